// As levels.ptx.
#if SPACE == 'constant'
__kernel void levels(__global ulong *sink, __global ulong *room, __global uint *order, uint places, uint rounds, uint write, __constant uint *ring)
#else
__kernel void levels(__global ulong *sink, __global ulong *room, __global uint *order, uint places, uint rounds, uint write)
#end
{
    uint id = (uint)get_local_id(0), v = 0;
    ulong at = (ulong)room, sum = 0;
#if SPACE == 'global'
    for (uint i = id; i < places; i += (uint)get_local_size(0))
        room[i] = (ulong)(room + order[i]);
    barrier(CLK_GLOBAL_MEM_FENCE);
    for (uint i = id; i < places; i += (uint)get_local_size(0))
        sum += room[i];
    barrier(CLK_GLOBAL_MEM_FENCE);
#end
    if (id != 0)
        return;
#if SPACE == 'constant'
    for (uint i = 0; i < places; i += 4)
        sum += ring[i];
#end
#pragma unroll 1
    for (; rounds != 0; rounds--) {
#repeat LINKS
#if SPACE == 'constant'
        v = *(__constant uint *)((__constant char *)ring + v);
#else
        at = *(__global ulong *)at;
#end
#end
    }
    if (write) {
        sink[2] = at + sum;
        sink[3] = v;
    }
}
