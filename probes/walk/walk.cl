// As walk.ptx.
#include number
#macro step
#if SPACE == 'global'
#if POINTER
#if BYTES == 16
        at = (*(__global number *)at).x;
#else
        at = *(__global number *)at;
#end
#else
#if BYTES == 16
        v = (uint)(*(__global number *)(base + (v << $SHIFT))).x;
#else
        v = (uint)*(__global number *)(base + (v << $SHIFT));
#end
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
#if SPACE == 'constant'
__kernel void walk(__global ulong *sink, __global char *room, __global uint *order, uint rounds, uint write, __constant uint *ring)
#else
__kernel void walk(__global ulong *sink, __global char *room, __global uint *order, uint rounds, uint write)
#end
{
#if SPACE == 'global'
    __global char *base = room;
#end
#if SPACE == 'shared'
    __local uint near[$POSITIONS];
    __local char *base = (__local char *)near;
#end
#if SPACE == 'constant'
    __constant char *base = (__constant char *)ring;
#end
#if SPACE == 'private'
    uint near[$POSITIONS];
    __private char *base = (__private char *)near;
#end
#if SPACE != 'constant' && !COLD
    for (uint i = 0; i < $POSITIONS; i++) {
#if SPACE == 'global'
#if POINTER
        *(__global ulong *)(base + (i << $SHIFT)) = (ulong)(base + (order[i] << $SHIFT));
#else
        *(__global number *)(base + (i << $SHIFT)) = (number)order[i];
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
    uint v = 0;
#end
#if !COLD
#pragma unroll 1
    for (uint i = 0; i < $POSITIONS; i++) {
#put step
    }
#end
#pragma unroll 1
    for (; rounds != 0; rounds--) {
#repeat LINKS k
#if PAUSES
#repeat (k*k*k*5+k*11)%29%4+PAUSES-1
        v = (v + write) ^ write;
#end
#end
#put step
#end
#if COLD
        base += $(POSITIONS << SHIFT);
#end
    }
    if (write)
#if POINTER
        sink[1] = at;
#else
        sink[1] = v;
#end
}
