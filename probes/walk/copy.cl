// As copy.ptx.
__kernel void copy(__global uint *sink, __global uint *from, uint reads, uint write)
{
    uint sum = 0;
    size_t step = get_global_size(0);
    __global uint *p = from + get_global_id(0);
#if KIND == 'unrolled'
#repeat READS
    sum += *p;
    p += step;
#end
#else
#if KIND == 'dynamic'
    for (uint i = 0; i < reads; i++) {
#else
    for (uint i = 0; i < $READS; i++) {
#end
        sum += *p;
        p += step;
    }
#end
    if (write & sum)
        sink[0] = sum;
}
