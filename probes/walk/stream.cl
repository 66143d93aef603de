// As stream.ptx.
#include number
#if SPACE == 'constant'
__kernel void stream(__global uint *sink, __global number *from, uint rounds, uint write, __constant uint *ring)
#else
__kernel void stream(__global uint *sink, __global number *from, uint rounds, uint write)
#end
{
    uint sum = 0;
#if SPACE == 'shared'
    __local uint near[1024];
    volatile __local uint *a = near + get_local_id(0) % $WARP;
#end
#if SPACE == 'constant'
    uint z = (uint)get_local_id(0) & write;
#end
#if SPACE == 'global'
    size_t step = get_global_size(0);
    __global number *p = from + get_global_id(0);
#end
#if TOGETHER
    volatile __local uint done;
    uint over = 0, turns = 0;
    if (get_local_id(0) == 0)
        done = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 1
    for (; rounds != 0 && over == 0; rounds--) {
        turns++;
#else
#pragma unroll 1
    for (; rounds != 0; rounds--) {
#end
#if SPACE == 'constant'
        z += write;
#end
#if SPACE == 'global'
#repeat LOADS k
        number v$k = *p;
        p += step;
#end
#repeat LOADS k
#if BYTES == 16
        sum += (uint)(v$k.x + v$k.y);
#else
        sum += (uint)v$k;
#end
#end
#else
#repeat LOADS k
#if TOGETHER && k == LOADS / 2
        over = done;
#end
#if SPACE == 'shared'
        uint v$k = a[$(k % 8 * 64)];
#else
        uint v$k = ring[z + $(k % 64)];
#end
#end
#repeat LOADS k
        sum += v$k;
#end
#end
    }
#if TOGETHER
    done = 1;
    if (get_local_id(0) % $WARP == 0)
        sink[2 + get_local_id(0) / $WARP] = turns; // behind the words of a clock, which there is not
#end
    if (write & sum)
        sink[0] = sum;
}
