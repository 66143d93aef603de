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
#pragma unroll 1
    for (; rounds != 0; rounds--) {
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
    if (write & sum)
        sink[2] = sum;
}
