// As part.ptx.
__kernel void part(__global float *sink, uint rounds, uint write, uint seed)
{
    uint id = (uint)get_local_id(0), group = id / $CONV, way = (group + group / 4) % 4;
    float a = 1.0f + 0.0000001f * (float)((id + seed) & 255), b = a + 0.0000004f, c = b + 0.0000004f;
#pragma unroll 1
    for (; rounds != 0; rounds--) {
        if (way == 0) {
#repeat LINKS
            a = a + b;
#end
        } else if (way == 1) {
#repeat LINKS
            a = a * c;
#end
        } else if (way == 2) {
#repeat LINKS
            a = $FMA(a, c, c);
#end
        } else {
#repeat LINKS
            a = b - a;
#end
        }
    }
    if (write)
        sink[0] = a;
}
