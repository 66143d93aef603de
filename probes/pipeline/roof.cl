// As roof.ptx. `room` is there for its size: how much local memory a block has says how many of them an SM takes.
#if REG == 'f64'
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#end
#if REG == 'u32'
typedef uint number;
#end
#if REG == 'f32'
typedef float number;
#end
#if REG == 'f64'
typedef double number;
#end
__kernel void roof(__global number *sink, uint rounds, uint write, uint seed_a, uint seed_b, __local number *room)
{
    uint id = (uint)get_local_id(0);
#if REG == 'u32'
    number c0 = ((id + seed_a) & 255) | 1073741825, c1 = ((id + seed_b) & 255) + 9;
#else
    number c0 = (number)(1.0f + 0.0000001f * (float)((id + seed_a) & 255)), c1 = (number)(1.0f + 0.0000001f * (float)((id + seed_b) & 255));
#end
#repeat CHAINS k
    number a$k = c0 + $k;
#end
#if CLASS == 'softsf'
#repeat CHAINS k
    number t$k, s$k;
#end
#end
#if TOGETHER
    volatile __local uint *done = (volatile __local uint *)room;
    uint over = 0, turns = 0;
    if (id == 0)
        *done = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 1
    for (; rounds != 0 && over == 0; rounds--) {
        turns++;
#else
#pragma unroll 1
    for (; rounds != 0; rounds--) {
#end
#repeat LINKS i
#if TOGETHER && i == LINKS / 2
        over = *done;
#end
#repeat CHAINS k
#if CLASS == 'sp' || CLASS == 'dp'
        a$k = a$k + c$(i % 2);
#end
#if CLASS == 'mad'
        a$k = $FMA(a$k, c$(i % 2), c$(i % 2));
#end
#if CLASS == 'int'
        a$k = a$k * c$(i % 2) + c$(1 - i % 2);
#end
#if CLASS == 'sf'
        a$k = native_cos(a$k);
#end
#if CLASS == 'softsf'
        t$k = $FMA(a$k, 0.636619747f, 12582912.0f);
#end
#end
#if CLASS == 'softsf'
#repeat CHAINS k
        t$k = t$k - 12582912.0f;
#end
#repeat CHAINS k
        a$k = $FMA(t$k, -1.57079625f, a$k);
#end
#repeat CHAINS k
        a$k = $FMA(t$k, -7.54978942e-08f, a$k);
#end
#repeat CHAINS k
        s$k = a$k * a$k;
#end
#repeat CHAINS k
        t$k = $FMA(s$k, -0.00138872792f, 0.0416666456f);
#end
#repeat CHAINS k
        t$k = $FMA(t$k, s$k, -0.49999997f);
#end
#repeat CHAINS k
        a$k = $FMA(t$k, s$k, c0);
#end
#end
#end
    }
#if TOGETHER
    *done = 1;
    if (id % $WARP == 0)
        ((__global uint *)sink)[2 + id / $WARP] = turns; // behind the words of a clock, which there is not
#end
    if (write) {
        room[id] = a0;
        barrier(CLK_LOCAL_MEM_FENCE);
        sink[0] = room[0];
#repeat CHAINS k
        sink[id * $CHAINS + $k] = a$k;
#end
    }
}
