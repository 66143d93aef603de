// As evict.ptx.
__kernel void evict(__global uint4 *from, uint count, uint never)
{
    uint4 sum = (uint4)(0);
    for (uint i = get_global_id(0); i < count; i += get_global_size(0))
        sum += from[i];
    if (never & (sum.x + sum.y + sum.z + sum.w))
        from[0] = sum;
}
