// Zeros into a whole buffer, of any size: drivers were seen to write elsewhere when they fill what lies behind 4 GB.
__kernel void fill(__global uint4 *to, ulong count)
{
    for (size_t i = get_global_id(0); i < count; i += get_global_size(0))
        to[i] = (uint4)(0);
}
