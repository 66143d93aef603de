// As copy.ptx.
__kernel void copy(__global uint *sink, __global uint *from, uint reads, uint rounds, uint write)
{
    uint sum = 0;
    size_t step = get_global_size(0);
    __global uint *p = from + get_global_id(0);
#pragma unroll 1
    for (; rounds != 0; rounds--) {
#if KIND == 'unrolled'
#repeat LINKS
        sum += *p;
        p += step;
#end
#else
#if KIND == 'dynamic'
        for (uint i = 0; i < reads; i++) {
#else
        for (uint i = 0; i < $LINKS; i++) {
#end
            sum += *p;
            p += step;
        }
#end
    }
    if (write & sum)
        sink[0] = sum;
}
