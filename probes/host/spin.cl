// As spin.ptx.
__kernel void spin(__global uint *sink, uint turns)
{
    uint x = get_local_id(0);
#pragma unroll 1
    for (uint i = 0; i < turns; i++) {
#repeat LINKS
        x = x * x + i;
#end
    }
    sink[0] = x;
}
