// As walk.ptx.
#if SPACE == 'constant'
typedef uint number;
#else
#if BYTES == 1
typedef uchar number;
#end
#if BYTES == 2
typedef ushort number;
#end
#if BYTES == 4
typedef uint number;
#end
#if BYTES >= 8
typedef ulong number;
#end
#end
#if SPACE == 'constant'
__kernel void walk(__global ulong *sink, __global char *room, __global uint *order, uint rounds, uint write, __constant uint *ring)
{
    __constant char *base = (__constant char *)ring;
#else
__kernel void walk(__global ulong *sink, __global char *room, __global uint *order, uint rounds, uint write)
{
#if SPACE == 'shared'
    __local uint near[$POSITIONS];
    __local char *base = (__local char *)near;
#end
#if SPACE == 'private'
    uint near[$POSITIONS];
    __private char *base = (__private char *)near;
#end
#if SPACE == 'global'
    __global char *base = room;
#end
    for (uint i = 0; i < $POSITIONS; i++) {
#if SPACE == 'global'
#if POINTER
        *(__global ulong *)(base + i * $BYTES) = (ulong)(base + order[i]);
#else
        *(__global number *)(base + i * $BYTES) = (number)order[i];
#end
#else
        near[i] = order[i];
#end
    }
    mem_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
#end
#if POINTER
    ulong at = (ulong)base;
#else
    ulong at = 0;
#end
#if SPACE != 'global'
    uint v = 0;
#end
#pragma unroll 1
    for (uint i = 0; i < $POSITIONS; i++) {
#if SPACE == 'global'
#if POINTER
#if BYTES == 16
        {
            ulong2 both = *(__global ulong2 *)at;
            at = both.x;
        }
#else
        at = *(__global ulong *)at;
#end
#else
        at = *(__global number *)(base + at);
#end
#end
#if SPACE == 'shared'
        v = *(__local uint *)(base + v);
#end
#if SPACE == 'constant'
        v = *(__constant uint *)(base + v);
#end
#if SPACE == 'private'
        v = *(__private uint *)(base + v);
#end
    }
#pragma unroll 1
    for (; rounds != 0; rounds--) {
#repeat LINKS
#if SPACE == 'global'
#if POINTER
#if BYTES == 16
        {
            ulong2 both = *(__global ulong2 *)at;
            at = both.x;
        }
#else
        at = *(__global ulong *)at;
#end
#else
        at = *(__global number *)(base + at);
#end
#end
#if SPACE == 'shared'
        v = *(__local uint *)(base + v);
#end
#if SPACE == 'constant'
        v = *(__constant uint *)(base + v);
#end
#if SPACE == 'private'
        v = *(__private uint *)(base + v);
#end
#end
    }
    if (write) {
        sink[1] = at;
#if SPACE != 'global'
        sink[0] = v;
#end
    }
}
