#!/usr/bin/env python3
"""What compilers write beside plain arithmetic, run on a simulated GPU: words, sentences, what is printed. Usage: run_cases.py FATHOM"""
import re
import subprocess
import sys
import tempfile

FATHOM = sys.argv[1]
REGS = ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<40>; .reg .f32 %f<40>; .reg .b64 %q<9>;"


def kernel(body, sm=90, version="8.0", before="", more="", parameters=".param .u64 out", size=".address_size 64\n"):
    return (f".version {version}\n.target sm_{sm}\n{size}{before}\n"
            f".visible .entry k({parameters}) {{ {REGS} {more}\nld.param.u64 %q1, [out];\n{body}\nret; }}\n")


def lanes(value):
    """Stores %r1 of each lane at its own word."""
    return value + "\nmov.u32 %r39, %laneid; mul.wide.u32 %q8, %r39, 4; add.u64 %q8, %q8, %q1; st.global.u32 [%q8], %r1;"


# name: text, words that come out (None: it is refused), a sentence, block, further arguments
CASES = {
    "predicate constants": (kernel("mov.pred %p1, -1; mov.pred %p2, 0; selp.b32 %r1, 1, 0, %p1; selp.b32 %r2, 5, 7, %p2; selp.b32 %r3, 5, 6, 1;"
                                   "st.global.u32 [%q1], %r1; st.global.u32 [%q1+4], %r2; st.global.u32 [%q1+8], %r3;"), [1, 7, 5]),
    # ptxas makes the same of them: a remainder has no sign, and U makes a comparison one of numbers without
    "constant expressions": (kernel("mov.u32 %r1, (2+3)*4; mov.s32 %r2, 1 ? 0 ? 5 : 6 : 7; ld.global.u32 %r3, [g+4*2]; st.global.u32 [%q1+1*0], %r1;"
                                    "st.global.u32 [%q1+(4)], %r2; st.global.u32 [%q1+8], %r3;" +
                                    "".join(f"ld.global.u32 %r4, [g+{4 * k}]; st.global.u32 [%q1+{8 + 4 * k}], %r4;" for k in range(1, 8)),
                                    before=".global .s32 g[8] = {1+2*3, (1<<4)|3, ~0 & 0xff, -100 % 7, -1 < 0U, 1 | 2 ^ 3 & 6, 0U-1 >> 60, 2-3-4};"),
                             [20, 6, 255, 19, 255, 0, 0, 1, 15, -5]),
    "casts of constants": (kernel("mov.u64 %q2, (.u64)-5 >> 60; mov.u64 %q3, (.s64)(1U-2) >> 1; mov.u32 %r1, (.s64)7 + 1; cvt.u32.u64 %r2, %q2;"
                                  "cvt.u32.u64 %r3, %q3; st.global.u32 [%q1], %r2; st.global.u32 [%q1+4], %r3; st.global.u32 [%q1+8], %r1;"), [15, -1, 8]),
    "vectors of registers": (kernel("mov.v4.u32 a, {1, %r1, 3, 4}; mov.u32 a.g, 2; mov.v4.u32 {a.x, a.y, a.b, _}, {a.y, a.x, a.w, a.z}; mov.v2.b32 b, {%tid.x, a.w};"
                                    "st.global.v4.u32 [%q1], a; st.global.v2.u32 [%q1+16], b;", more=".reg .v4 .align 4 .u32 a; .reg .v2 .b32 b;"),
                             [2, 1, 4, 4, 0, 4]),
    "vectors handed over": (kernel("mov.v2.u32 a, {5, 7}; call (b), turn, (a, 1); st.global.v2.u32 [%q1], b;", more=".reg .v2 .u32 a, b;",
                                   before=".func (.reg .v2 .u32 r) turn(.reg .v2 .u32 x, .reg .u32 n) { mov.v2.u32 r, {x.y, x.x}; add.u32 r.y, r.y, n; ret; }"), [7, 6]),
    "an array of any size": (kernel("{ .param .align 8 .b8 a[8]; .param .b32 r; st.param.u32 [a], 5; st.param.u32 [a+4], 7; call (r), last, (a); ld.param.u32 %r1, [r]; }"
                                    "{ .param .align 8 .b8 a[12]; .param .b32 r; st.param.u32 [a+4], 9; call (r), last, (a); ld.param.u32 %r2, [r]; }"
                                    "st.global.u32 [%q1], %r1; st.global.u32 [%q1+4], %r2;",
                                    before=".func (.param .b32 r) last(.param .align 8 .b8 x[]) { .reg .u32 %a; ld.param.u32 %a, [x+4]; st.param.u32 [r], %a; ret; }"), [7, 9]),
    "a vector among a kernel's parameters": (kernel("ld.param.v2.u32 {%r1, %r2}, [v+8]; st.global.v2.u32 [%q1], {%r1, %r2};",
                                                    parameters=".param .u64 out, .param .v2 .u32 v[2]"), [3, 4], "", 1,
                                             ["--arg", "bytes:01000000020000000300000004000000"]),
    "a quotient of nothing": (kernel("mov.u32 %r1, 5/(3-3);"), None, "this quotient does not exist"),
    "packed constants": (kernel("mov.u16 %h1, 16256; mov.b32 %f1, {0, %h1}; mov.b64 %q2, {%r1, 9}; mov.b64 {_, %r2}, %q2;"
                                "st.global.f32 [%q1], %f1; st.global.u32 [%q1+4], %r2;"), [0x3f800000, 9]),
    "announced without an end": (kernel("mov.u32 %r1, 21; { .param .u32 a; st.param.u32 [a], %r1; .param .u32 b; call (b), twice, (a);"
                                        "ld.param.u32 %r2, [b]; } st.global.u32 [%q1], %r2;",
                                        before=".visible .func (.param .u32 r) twice (.param .u32 a)") +
                                 ".visible .func (.param .u32 r) twice (.param .u32 a) { .reg .u32 %x; ld.param.u32 %x, [a]; add.u32 %x, %x, %x;"
                                 "st.param.u32 [r], %x; ret; }", [42]),
    "address of a parameter": (kernel("mov.b64 %q2, s; ld.param.u32 %r1, [%q2+8]; cvta.param.u64 %q3, %q2; ld.u32 %r2, [%q3+4];"
                                      "isspacep.param %p1, %q3; selp.b32 %r3, 1, 0, %p1;"
                                      "st.global.u32 [%q1], %r1; st.global.u32 [%q1+4], %r2; st.global.u32 [%q1+8], %r3;",
                                      parameters=".param .u64 out, .param .align 8 .b8 s[16]"), [3, 2, 1], "", 1,
                               ["--arg", "bytes:010000000200000003000000"]),
    "reading beyond the parameters": (kernel("mov.b64 %q2, out; ld.param.u32 %r1, [%q2+8]; st.global.u32 [%q1], %r1;"), None,
                                      "outside the parameters"),
    "redux": (kernel(lanes("mov.u32 %r2, %laneid; sub.s32 %r2, %r2, 5; redux.sync.min.s32 %r3, %r2, 0xffffffff; redux.sync.add.s32 %r4, %r2, -1;"
                           "redux.sync.or.b32 %r5, %r2, 0xff; mad.lo.u32 %r1, %r3, 1000, %r4;")), [496 - 160 - 5000] * 32, "", 32),
    "texture of the module": (kernel("mov.s32 %r1, 0; mov.f32 %f1, 0f3F800000; tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [t, {%r1, %r1, %r1, %r1}];"
                                     "st.global.f32 [%q1], %f1;", before=".global .texref t; .global .samplerref s = {addr_mode_0 = wrap};"), [0]),
    "kinds of names": (kernel("mov.u64 %q2, t; mov.u64 %q3, s; istypep.texref %p1, %q2; istypep.texref %p2, %q3; istypep.samplerref %p3, %q3; istypep.surfref %p4, %q1;"
                              + "".join(f"selp.b32 %r{k}, 1, 0, %p{k}; st.global.u32 [%q1+{4 * k - 4}], %r{k};" for k in range(1, 5)),
                              before=".global .texref t; .global .samplerref s;"), [1, 0, 1, 0]),
    "bit masks and video": (kernel("mov.u32 %r2, 24; bmsk.clamp.b32 %r1, %r2, 8; mov.u32 %r3, 300; cvt.pack.sat.u8.s32.b32 %r4, %r3, %r2, 0;"
                                   "mov.u32 %r5, 0x01020380; mov.u32 %r6, 0x02020202; vabsdiff4.u32.u32.u32.add %r7, %r5, %r6, 100;"
                                   "vadd.s32.s32.s32.sat %r8, %r5.b0, %r6.h1, %r5; szext.clamp.s32 %r9, %r5, 8;"
                                   "vshr.u32.u32.u32.clamp.add %r10, %r3, %r2, %r2; vmax2.s32.s32.s32 %r11, %r5, %r6, 0;"
                                   + "".join(f"st.global.u32 [%q1+{4 * k}], %r{r};" for k, r in enumerate([1, 4, 7, 8, 9, 10, 11]))),
                            [0xff000000, 0xff18, 1 + 0 + 1 + 126 + 100, 514 - 128, 0xffffff80, 24, 0x02020380]),
    "dot products": (kernel("mov.u32 %r2, 0x01ff0203; mov.u32 %r3, 0x01010101; dp4a.s32.u32 %r1, %r2, %r3, 10; dp4a.u32.u32 %r4, %r2, %r3, 10;"
                            "dp2a.lo.s32.s32 %r5, %r2, %r3, 0; st.global.u32 [%q1], %r1; st.global.u32 [%q1+4], %r4; st.global.u32 [%q1+8], %r5;"),
                     [10 + 1 - 1 + 2 + 3, 10 + 1 + 255 + 2 + 3, 0x203 + 0x1ff]),
    "bf16": (kernel("mov.f32 %f1, 0f40400000; mov.f32 %f2, 0f3f800000; cvt.rn.bf16x2.f32 %r1, %f1, %f2; mov.u32 %r2, 0x3f803f80;"
                    "fma.rn.bf16x2 %r3, %r1, %r1, %r2; cvt.rn.bf16.f32 %h1, %f1; cvt.f32.bf16 %f3, %h1; setp.gt.bf16x2 %p1|%p2, %r1, %r2;"
                    "selp.b32 %r4, 1, 0, %p1; selp.b32 %r5, 1, 0, %p2; mov.f32 %f4, 0f3f80c000; cvt.rn.bf16x2.f32 %r6, %f4, %f4;"
                    "st.global.u32 [%q1], %r1; st.global.u32 [%q1+4], %r3; st.global.f32 [%q1+8], %f3; st.global.u32 [%q1+12], %r4;"
                    "st.global.u32 [%q1+16], %r5; st.global.u32 [%q1+20], %r6;"), [0x40403f80, 0x41204000, 0x40400000, 0, 1, 0x3f813f81]),
    "eight bits": (kernel("mov.f32 %f1, 0f3f800000; mov.f32 %f2, 0f44000000; cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f2; cvt.u32.u16 %r1, %h1;"
                          "cvt.rn.f16x2.e4m3x2 %r2, %h1; cvt.rn.satfinite.e5m2x2.f32 %h2, %f2, %f1; cvt.u32.u16 %r3, %h2; cvt.rna.tf32.f32 %r4, 0f3f801000;"
                          "st.global.u32 [%q1], %r1; st.global.u32 [%q1+4], %r2; st.global.u32 [%q1+8], %r3; st.global.u32 [%q1+12], %r4;"),
                   [0x387e, 0x3c005f00, 0x603c, 0x3f802000]),
    "ldmatrix": (kernel("mov.u32 %r2, %laneid; mov.u32 %r3, s; shl.b32 %r4, %r2, 2; add.u32 %r4, %r3, %r4; st.shared.u32 [%r4], %r2; bar.sync 0;"
                        "and.b32 %r5, %r2, 7; shl.b32 %r5, %r5, 4; add.u32 %r4, %r3, %r5;" +
                        lanes("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r6}, [%r4]; ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r7}, [%r4];"
                              "movmatrix.sync.aligned.m8n8.trans.b16 %r7, %r7; sub.u32 %r8, %r6, %r7; mad.lo.u32 %r1, %r8, 1000, %r6;"),
                        more=".shared .align 16 .b8 s[128];"), list(range(32)), "", 32),
    # Row g of A holds g + 1 everywhere, column n of B holds n: the product is 16 (g + 1) n.
    "mma": (kernel(lanes("mov.u32 %r2, %laneid; shr.u32 %r3, %r2, 2; add.u32 %r3, %r3, 1; cvt.rn.f32.u32 %f1, %r3; add.f32 %f2, %f1, 0f41000000;"
                         "cvt.rn.f16x2.f32 %r10, %f1, %f1; cvt.rn.f16x2.f32 %r11, %f2, %f2; sub.f32 %f3, %f1, 0f3F800000; cvt.rn.f16x2.f32 %r12, %f3, %f3;"
                         "mov.f32 %f9, 0f3F800000; mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f5, %f6, %f7, %f8}, {%r10, %r11, %r10, %r11},"
                         "{%r12, %r12}, {%f9, %f9, %f9, %f9}; cvt.rzi.u32.f32 %r4, %f5; cvt.rzi.u32.f32 %r5, %f8; mad.lo.u32 %r1, %r5, 10000, %r4;")),
            [10000 * (16 * (k // 4 + 9) * (k % 4 * 2 + 1) + 1) + 16 * (k // 4 + 1) * (k % 4 * 2) + 1 for k in range(32)], "", 32),
    "mma of bytes": (kernel(lanes("mov.u32 %r10, 0x01010101; mov.u32 %r11, 0xfefefefe; mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r1, %r2, %r3, %r4},"
                                  "{%r10, %r10, %r10, %r10}, {%r11, %r11}, {%r10, %r10, %r10, %r10};")), [0x01010101 - 64] * 32, "", 32),
    # A is the row number, B the column number, both from memory; C what was there.
    "wmma": (kernel("mov.u32 %r2, %laneid; mov.u32 %r3, 0;\nL: mad.lo.u32 %r4, %r3, 32, %r2; shr.u32 %r5, %r4, 4; cvt.rn.f16.u32 %h1, %r5;"
                    "mov.u32 %r6, s; mad.lo.u32 %r6, %r4, 2, %r6; st.shared.b16 [%r6], %h1; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 8; @%p1 bra L;\n"
                    "bar.sync 0; mov.u64 %q2, s; mov.f32 %f20, 0f00000000; mov.u32 %r17, 16;"
                    "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27}, [%q2], %r17;"
                    "wmma.load.b.sync.aligned.col.m16n16k16.shared.f16 {%r30, %r31, %r32, %r33, %r34, %r35, %r36, %r37}, [%q2], %r17;"
                    "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, {%r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27},"
                    "{%r30, %r31, %r32, %r33, %r34, %r35, %r36, %r37}, {%f20, %f20, %f20, %f20, %f20, %f20, %f20, %f20};"
                    "cvt.rzi.u32.f32 %r1, %f1;"
                    "wmma.store.d.sync.aligned.col.m16n16k16.global.f32 [%q1], {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, 16;",
                    more=".shared .align 32 .b8 s[512];"),
             lambda w: all(float.fromhex("0x1p0") * struct_float(w[k]) == 16 * (k // 16) * (k % 16) for k in range(256)), "", 32, ["--words", "256"]),
    # Halves of a column-major matrix, loaded across and stored across, and what lies between them.
    "wmma across": (kernel("mov.u32 %r2, %laneid; mov.u32 %r3, 0;\nL: mad.lo.u32 %r4, %r3, 32, %r2; cvt.u16.u32 %h1, %r4; mov.u32 %r6, s;"
                           "mad.lo.u32 %r6, %r4, 2, %r6; st.shared.b16 [%r6], %h1; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 8; @%p1 bra L;\nbar.sync 0; mov.u64 %q2, s;"
                           "wmma.load.c.sync.aligned.col.m16n16k16.shared.f16 {%r20, %r21, %r22, %r23}, [%q2], 16;"
                           "wmma.store.d.sync.aligned.row.m16n16k16.global.f16 [%q1], {%r20, %r21, %r22, %r23}, 16;"
                           "wmma.store.d.sync.aligned.col.m16n16k16.global.f16 [%q1+512], {%r20, %r21, %r22, %r23}, 16;",
                           more=".shared .align 32 .b8 s[512];"),
                    lambda w: all(w[128 + k] == 2 * k | (2 * k + 1) << 16 for k in range(128)) and w[0] == 16 << 16 and w[8] == 1 | 17 << 16,
                    "", 32, ["--words", "256"]),
    "sixteen bits in pairs": (kernel("mov.u32 %r2, 0x0001ffff; mov.u32 %r3, 0xffff0002; add.u16x2 %r1, %r2, %r3; min.s16x2 %r4, %r2, %r3; max.u16x2 %r5, %r2, %r3;"
                                     "st.global.u32 [%q1], %r1; st.global.u32 [%q1+4], %r4; st.global.u32 [%q1+8], %r5;"), [1, 0xffffffff, 0xffffffff]),
    "printing": (kernel("mov.u64 %q2, depot; cvta.local.u64 %q3, %q2; mov.u32 %r1, %laneid; st.local.u32 [%q2], %r1; mov.u64 %q4, 0x3ff8000000000000;"
                        "st.local.u64 [%q2+8], %q4; mov.u64 %q5, text; cvta.global.u64 %q5, %q5; { .param .b64 a; st.param.b64 [a], %q5; .param .b64 b;"
                        "st.param.b64 [b], %q3; .param .b32 c; call.uni (c), vprintf, (a, b); ld.param.b32 %r2, [c]; }",
                        more=".local .align 8 .b8 depot[16];",
                        before=".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
                        ".global .align 1 .b8 text[11] = {120, 61, 37, 100, 32, 37, 46, 50, 102, 10, 0};"), [0], "x=0 1.50\nx=1 1.50\n", 2),
    "a failed assertion": (kernel("mov.u64 %q2, text; cvta.global.u64 %q2, %q2; { .param .b64 a; st.param.b64 [a], %q2; .param .b64 b; st.param.b64 [b], %q2;"
                                  ".param .b32 c; st.param.b32 [c], 7; .param .b64 d; st.param.b64 [d], %q2; .param .b64 e; st.param.b64 [e], 1;"
                                  "call.uni __assertfail, (a, b, c, d, e); }",
                                  before=".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);\n"
                                  ".global .align 1 .b8 text[5] = {120, 33, 61, 48, 0};"), None, "x!=0:7: x!=0: assertion `x!=0` failed; thread (0,0,0)"),
    "addresses in variables": (kernel("ld.global.u64 %q2, [table]; ld.u32 %r1, [%q2]; ld.global.u64 %q3, [table+8]; ld.const.u32 %r2, [%q3];"
                                      "st.global.u32 [%q1], %r1; st.global.u32 [%q1+4], %r2;",
                                      before=".global .align 4 .u32 x[2] = {6, 7}; .const .u32 y[2] = {8, 9};"
                                      ".global .align 8 .u64 table[2] = {generic(x)+4, y+4};"), [7, 9]),
    "calls through registers": (kernel(lanes("mov.u32 %r2, %laneid; and.b32 %r2, %r2, 1; mul.wide.u32 %q2, %r2, 8; mov.u64 %q3, table; add.u64 %q3, %q3, %q2;"
                                             "ld.global.u64 %q4, [%q3]; { .param .b32 a; st.param.b32 [a], 10; .param .b32 b;"
                                             "P: .callprototype (.param .b32 _) _ (.param .b32 _); call (b), %q4, (a), P; ld.param.b32 %r1, [b]; }"),
                                       before=".func (.param .b32 r) f(.param .b32 a) { .reg .b32 %x; ld.param.b32 %x, [a]; add.u32 %x, %x, 1; st.param.b32 [r], %x; ret; }"
                                       ".func (.param .b32 r) g(.param .b32 a) { .reg .b32 %x; ld.param.b32 %x, [a]; mul.lo.u32 %x, %x, 2; st.param.b32 [r], %x; ret; }"
                                       ".global .align 8 .u64 table[2] = {f, g};"), [11, 20] * 16, "", 32),
    "a call to nowhere": (kernel("mov.u64 %q2, 8; { .param .b32 a; st.param.b32 [a], 1; P: .callprototype _ (.param .b32 _); call %q2, (a), P; }"), None, "trap"),
    "copies and their groups": (kernel("mov.u32 %r2, %tid.x; mov.u32 %r3, s; mad.lo.u32 %r4, %r2, 16, %r3; cvta.global.u64 %q2, %q1; mov.u64 %q3, data; cvta.global.u64 %q3, %q3;"
                                       "mul.wide.u32 %q4, %r2, 16; add.u64 %q3, %q3, %q4; cp.async.cg.shared.global [%r4], [%q3], 16;"
                                       "cp.async.ca.shared.global.L2::128B [%r4+64], [%q3], 4, 0; cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;"
                                       "ld.shared.u32 %r1, [%r4+4]; mad.lo.u32 %r6, %r2, 4, 0; cvt.u64.u32 %q6, %r6; add.u64 %q6, %q6, %q1; st.global.u32 [%q6], %r1;",
                                       more=".shared .align 16 .b8 s[256];", before=".global .align 16 .u32 data[8] = {1, 2, 3, 4, 5, 6, 7, 8};"), [2, 6], "", 2),
    "barriers in memory": (kernel(lanes("mov.u32 %r2, %tid.x; setp.eq.u32 %p1, %r2, 0; @%p1 mbarrier.init.shared.b64 [b], 64; bar.sync 0;"
                                        "mbarrier.arrive.shared.b64 %q2, [b];\nW: mbarrier.test_wait.shared.b64 %p2, [b], %q2; @!%p2 bra W;\n"
                                        "mbarrier.try_wait.parity.shared.b64 %p3, [b], 0; selp.b32 %r1, 5, 6, %p3;"),
                                  more=".shared .align 8 .b64 b;"), [5] * 32, "", 64),
    "a barrier that counts bytes by hand":
        (kernel("mov.u32 %r1, b; mbarrier.init.shared.b64 [%r1], 2; mbarrier.expect_tx.relaxed.cta.shared.b64 [%r1], 48;"
                "mbarrier.arrive.noComplete.shared.b64 %q2, [%r1], 1; mbarrier.complete_tx.relaxed.cta.shared.b64 [%r1], 32; mbarrier.arrive.shared.b64 %q2, [%r1];"
                "mbarrier.test_wait.parity.shared.b64 %p1, [%r1], 0; mbarrier.complete_tx.relaxed.cta.shared.b64 [%r1], 16;"
                "mbarrier.test_wait.parity.shared.b64 %p2, [%r1], 0; selp.b32 %r2, 1, 0, %p1; selp.b32 %r3, 1, 0, %p2;"
                "st.global.u32 [%q1], %r2; st.global.u32 [%q1+4], %r3;", more=".shared .align 8 .b64 b;"), [0, 1]),
    "an address that begins below zero":
        (kernel("mov.u32 %r1, 9; mov.u32 %r2, s; st.shared.u32 [%r2+16], %r1; sub.u32 %r2, %r2, 8; ld.shared.u32 %r3, [%r2+24]; st.shared.v2.u32 [%r2+8], {%r3, %r1};"
                "ld.shared.v2.u32 {%r4, %r5}, [%r2+8]; atom.shared.add.u32 %r6, [%r2+12], 1; ld.shared.u32 %r7, [%r2+12]; st.global.v2.u32 [%q1], {%r4, %r5};"
                "st.global.v2.u32 [%q1+8], {%r6, %r7};", more=".shared .align 8 .b8 s[64];"), [9, 9, 9, 10]),
    "counting at a barrier": (kernel(lanes("mov.u32 %r2, %tid.x; setp.lt.u32 %p1, %r2, 40; bar.red.popc.u32 %r3, 0, %p1; barrier.cta.red.and.pred %p2, 0, %p1;"
                                           "bar.red.or.pred %p3, 0, !%p1; selp.b32 %r4, 100, 0, %p2; selp.b32 %r5, 1000, 0, %p3; add.u32 %r1, %r3, %r4; add.u32 %r1, %r1, %r5;")),
                              [1040] * 32, "", 64),
    "policies and hints": (kernel("createpolicy.fractional.L2::evict_last.b64 %q2, 1.0; ld.global.L1::evict_last.L2::cache_hint.b32 %r1, [%q1], %q2;"
                                  "ld.global.nc.L1::no_allocate.L2::128B.v2.u32 {%r2, %r3}, [%q1]; st.global.L2::cache_hint.u32 [%q1+4], 3, %q2;"
                                  "red.global.add.L2::cache_hint.u32 [%q1+4], 4, %q2; fence.proxy.async; fence.acq_rel.cluster; barrier.sync.aligned 0;"), [0, 7]),
    "vector registers": (kernel("mov.u32 v.x, 3; mov.u32 v.y, 4; add.u32 %r1, v.x, v.y; st.global.v2.u32 [%q1], v; ld.global.v2.u32 v, [%q1]; add.u32 %r2, v.x, %r1;"
                                "st.global.u32 [%q1+8], %r2;", more=".reg .v2 .u32 v;"), [3, 4, 10]),
    "lists of one, several vector registers, common variables":
        (kernel("mov.u32 v1.x, 3; mov.u32 v1.y, 4; st.global.v2.u32 [%q1], v1; ld.global.u32 {%r1}, [%q1+4]; add.u32 %r1, %r1, 1; st.global.b32 [%q1+8], {%r1};"
                "ld.global.u32 %r2, [c]; st.global.u32 [%q1+12], {%r2};", more=".reg .v2 .u32 v<2>;", before=".common .global .align 4 .u32 c;"), [3, 4, 5, 0]),
    "maps that are fetched early":
        (kernel("prefetch.tensormap [%q1]; prefetch.param.tensormap [out]; prefetch.global.L2::evict_last [%q1]; ld.mmio.relaxed.sys.global.u32 %r1, [%q1];"
                "barrier.cta.arrive 1, 64; isspacep.param::entry %p1, %q1; selp.b32 %r1, 1, 2, %p1; st.mmio.relaxed.sys.global.u32 [%q1], %r1;", version="8.3"), [2]),
    "eight words at a time": (kernel("mov.u32 %r1, 1; mov.u32 %r8, 8; st.global.v8.b32 [%q1], {%r1, %r1, %r1, %r1, %r1, %r1, %r1, %r8};"
                                     "ld.global.v8.b32 {%r11, %r12, %r13, %r14, %r15, %r16, %r17, %r18}, [%q1]; add.u32 %r1, %r17, %r18; st.global.u32 [%q1], %r1;"),
                              [9, 1, 1, 1, 1, 1, 1, 8]),
    "votes among others": (kernel(lanes("mov.u32 %r2, %lanemask_lt; setp.eq.u32 %p1, %r2, %r2; vote.sync.ballot.b32 %r1, %p1, %r2;")),
                           [(1 << k) - 1 for k in range(32)], "", 32),
    "one of the warp": (kernel(lanes("elect.sync %r2|%p1, 0xffffffff; selp.b32 %r1, 7, 0, %p1; mov.u32 %r3, %envreg3; add.u32 %r1, %r1, %r3;")), [7] + [0] * 31, "", 32),
    "old products": (kernel("mov.f32 %f1, 0f40000000; mov.f32 %f2, 0f40400000; mad.f32 %f3, %f1, %f2, 0f3f800000; st.global.f32 [%q1], %f3;", sm=20,
                            version="1.4", size=""), [0x40e00000]),
    "a mark before the text": ("\ufeff" + kernel("st.global.u32 [%q1], 1;"), [1]),
    "another kernel's instruction": (kernel("st.global.u32 [%q1], 1;", before=".entry other() { .reg .b32 %x; { tcgen05.alloc %x, %x; } }"
                                            ".func lost() { nonsense; } .func (.reg .b32 %a) gone(.reg .b32 %b) { nonsense; }"), [1]),
    "what is not executed": (kernel("tcgen05.alloc %p1, %q1;"), None, "'tcgen05' is an instruction that the simulated GPU does not execute"),
    "no surface": (kernel("sust.b.1d.b32.trap [%q1, {%r1}], {%r1};"), None, "texture"),
    "bulk copies": (kernel("mov.u32 %r1, b; mov.u32 %r2, s; mov.u32 %r3, 7; st.global.u32 [%q1+20], %r3; mbarrier.init.shared.b64 [%r1], 1;"
                           "mbarrier.arrive.expect_tx.shared.b64 %q2, [%r1], 32;"
                           "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%q1], 16, [%r1];"
                           "mbarrier.test_wait.shared.b64 %p1, [%r1], %q2;"
                           "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2+16], [%q1+16], 16, [%r1];"
                           "mbarrier.test_wait.shared.b64 %p2, [%r1], %q2; selp.b32 %r4, 1, 0, %p1; selp.b32 %r5, 1, 0, %p2;"
                           "add.u64 %q3, %q1, 32; cp.async.bulk.global.shared::cta.bulk_group [%q3], [%r2+16], 16;"
                           "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;"
                           "st.global.u32 [%q1], %r4; st.global.u32 [%q1+4], %r5; setp.ne.u32 %p3, %r5, 1; mov.u32 %r6, 48;"
                           "@%p3 cp.async.bulk.global.shared::cta.bulk_group [%q1], [%r2], %r6;",
                           more=".shared .align 16 .b8 s[64]; .shared .align 8 .b64 b;"), [0, 1, 0, 0, 0, 7, 0, 0, 0, 7, 0, 0]),
    "a barrier told of copies": (kernel("mov.u32 %r1, b; mov.u32 %r2, s; mbarrier.init.shared.b64 [%r1], 1; cp.async.ca.shared.global [%r2], [%q1], 4;"
                                        "cp.async.mbarrier.arrive.shared.b64 [%r1]; mbarrier.test_wait.parity.shared.b64 %p1, [%r1], 0;"
                                        "cp.async.mbarrier.arrive.noinc.shared.b64 [%r1]; mbarrier.test_wait.parity.shared.b64 %p2, [%r1], 0;"
                                        "selp.b32 %r4, 1, 0, %p1; selp.b32 %r5, 1, 0, %p2; st.global.u32 [%q1], %r4; st.global.u32 [%q1+4], %r5;",
                                        more=".shared .align 16 .b8 s[64]; .shared .align 8 .b64 b;"), [0, 1]),
    "not below zero": (kernel("mov.s32 %r2, -5; mov.s32 %r3, -3; min.relu.s32 %r1, %r2, %r3; mov.b32 %r4, 0xfffe0003; mov.b32 %r5, 0xffff0004;"
                              "max.s16x2.relu %r6, %r4, %r5; st.global.u32 [%q1], %r1; st.global.u32 [%q1+4], %r6;"), [0, 4]),
    # Each thread passes its lane to the next one, through what the cluster shares; 7 is stored behind.
    "a cluster of one": (kernel("mov.u32 %r2, %laneid; mov.u32 %r3, s; mapa.shared::cluster.u32 %r4, %r3, 0; mapa.shared::cluster.u32 %r5, s, 0;"
                                "sub.u32 %r5, %r4, %r5; shl.b32 %r6, %r2, 2; add.u32 %r6, %r4, %r6; st.shared::cluster.u32 [%r6], %r2;"
                                "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned; getctarank.shared::cluster.u32 %r7, %r4;"
                                "xor.b32 %r6, %r2, 63; shl.b32 %r6, %r6, 2; add.u32 %r6, %r3, %r6;" + lanes("ld.shared::cluster.u32 %r1, [%r6];"
                                "add.u32 %r1, %r1, %r5; add.u32 %r1, %r1, %r7;").replace("%laneid", "%tid.x"), more=".shared .align 16 .b8 s[256];")
                         .replace("%laneid", "%tid.x"), [63 - k for k in range(64)], "", 64),
    "a cluster of several": (kernel("ret;").replace("(.param .u64 out) {", "(.param .u64 out) .explicitcluster .reqnctapercluster 2, 1, 1 {"), None,
                             "is not made of clusters of 2 x 1 x 1"),
    "kernels that launch kernels": (kernel("{ .param .b32 r; .param .b64 a; .param .b64 b; call.uni (r), cudaLaunchDeviceV2, (a, b); }",
                                           before=".extern .func (.param .b32 r) cudaLaunchDeviceV2 (.param .b64 a, .param .b64 b);"), None,
                                    "dynamic parallelism"),
    "malloc without a heap": (kernel("{ .param .b64 n; st.param.b64 [n], 16; .param .b64 p; call.uni (p), malloc, (n); ld.param.b64 %q2, [p]; }"
                                     "st.global.u64 [%q1], %q2; st.global.u32 [%q1+8], 3;",
                                     before=".extern .func (.param .b64 p) malloc (.param .b64 n);"), [0, 0, 3]),
    "a function with it": (kernel("call lost, ();", before=".func lost() { .reg .pred %p; .reg .b64 %q; tcgen05.alloc %p, %q; }"), None, "which is not executed: "),
    "a register hides a special one": (kernel("{ .reg .u32 %clock, %tid; mov.u32 %clock, 5; mov.u32 %tid, 6; add.u32 %r1, %clock, %tid; }"
                                              "mov.u32 %r2, %clock; setp.eq.u32 %p1, %r2, 5; selp.u32 %r2, 1, 0, %p1; mov.u32 %r3, %tid.x;"
                                              "st.global.v4.u32 [%q1], {%r1, %r2, %r3, %r3};"), [11, 0, 0, 0]),
    "a hidden one has no parts": (kernel(".reg .u32 %tid; mov.u32 %r1, %tid.x;"), None, "'%tid.x' is not declared"),
    "a special one has parts": (kernel("mov.u32 %r1, %tid;"), None, "write %tid.x"),
    "a variable of a special name": (kernel("ret;", before=".global .u32 %ctaid;"), None, "already a special register"),
    "variables without a space": (kernel("mov.u32 %r1, 7; st.u32 [s+4], %r1; ld.shared.u32 %r2, [s+4]; atom.add.u32 %r3, [s+4], 2; ld.u32 %r4, [s+4];"
                                         "st.u32 [l], %r1; ld.local.u32 %r5, [l]; st.global.v4.u32 [%q1], {%r2, %r3, %r4, %r5};",
                                         more=".shared .align 8 .b8 s[8]; .local .align 8 .b8 l[8];"), [7, 7, 9, 7]),
    "128 bits": (kernel("mov.b64 %q2, 5; mov.b64 %q3, 6; mov.b128 x, {%q2, %q3}; st.shared.b128 [s], x; ld.b128 y, [s]; mov.b128 {%q4, _}, y;"
                        "mov.b128 y, {%q3, %q2}; atom.shared.cas.b128 x, [s], x, y; atom.shared.exch.b128 y, [s], x; mov.b128 {_, %q5}, y;"
                        "st.global.v2.b64 [%q1], {%q4, %q5};", more=".shared .align 16 .b8 s[16]; .reg .b128 x, y;"), [5, 0, 5, 0]),
    "a vote of all": (kernel("vote.sync.ballot.b32 %r1, 1, -1; vote.sync.any.pred %p1, 0, -1; selp.u32 %r2, 1, 0, %p1; mov.u64 %q2, f;"
                             "P: .callprototype _ () .noreturn .abi_preserve 4; st.global.u32 [%q1], %r1; st.global.u32 [%q1+4], %r2;",
                             before=".func f() .abi_preserve 4 { ret; }"), [1, 0]),
    # Each product makes eight registers, of which only the last ones are read: a thread has room for few of them.
    "results that nobody reads": (kernel(lanes("mov.u32 %r2, 0x01010101; mov.u32 %r3, 2;" + "".join(
        "wmma.mma.sync.aligned.row.col.m16n16k16.s32.u8.u8.s32 {" + ", ".join(f"%m{8 * k + x}" for x in range(8)) + "},"
        "{%r2, %r2}, {%r2, %r2}, {%r3, %r3, %r3, %r3, %r3, %r3, %r3, %r3};" for k in range(50)) + "mov.u32 %r1, %m399;"),
        more=".reg .b32 %m<400>;"), [18] * 32, "", 32),
    # Even and odd lanes are two groups in one instruction.
    "groups that differ": (kernel("mov.u32 %r2, %laneid; and.b32 %r3, %r2, 1; mov.u32 %r4, 0x55555555; shl.b32 %r4, %r4, %r3; redux.sync.add.s32 %r5, %r2, %r4;"
                                  "elect.sync %r6|%p1, %r4; match.all.sync.b32 %r7|%p2, %r3, %r4; selp.u32 %r8, 1000, 0, %p2; mad.lo.u32 %r1, %r6, 10000, %r5;"
                                  + lanes("add.u32 %r1, %r1, %r8;")), [(k % 2) * 10000 + (240 if k % 2 == 0 else 256) + 1000 for k in range(32)], "", 32),
    "a list of calls": (kernel("mov.u64 %q2, f; T: .calltargets f; call %q2, T; st.global.u32 [%q1], 3;", before=".func f() { ret; }"), [3]),
    "a copy that brings nothing": (kernel("st.global.u32 [%q1], 7; st.shared.u32 [s], 8; setp.eq.u64 %p1, %q1, %q1; cp.async.ca.shared.global [s], [%q1], 4, %p1;"
                                          "cp.async.wait_all; ld.shared.u32 %r1, [s]; st.global.u32 [%q1+4], %r1;", more=".shared .u32 s;"), [7, 0]),
    # Lanes of a quad hold lines g and columns; A is ones, B the column: of four products each lane has its own.
    "mma of quads": (kernel(lanes("mov.u32 %r2, %laneid; and.b32 %r3, %r2, 3; cvt.rn.f32.u32 %f1, %r3; cvt.rn.f16x2.f32 %r4, %f1, %f1; mov.u32 %r5, 0x3c003c00;"
                                  "mov.u32 %r6, 0; mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16 {%r7, %r8, %r9, %r10}, {%r4, %r4}, {%r5, %r5},"
                                  "{%r6, %r6, %r6, %r6}; mov.b32 {%h1, %h2}, %r10; cvt.f32.f16 %f2, %h2; cvt.rzi.u32.f32 %r1, %f2;")),
                     [4 * (k % 4) for k in range(32)], "", 32),
    # Three pieces, of which the second comes back: the third lies where it did; what the function took is there again behind it.
    "alloca": (kernel("alloca.u64 %q2, 20; stacksave.u64 %q3; alloca.u64 %q4, 4, 16; stackrestore.u64 %q3; call f, (); alloca.u64 %q5, 4, 16; sub.u64 %q6, %q5, %q4;"
                      "sub.u64 %q7, %q4, %q2; cvta.local.u64 %q4, %q4; mov.u32 %r1, 9; st.u32 [%q4], %r1; ld.local.u32 %r2, [%q5]; st.global.u32 [%q1], %r2;"
                      "cvt.u32.u64 %r3, %q6; cvt.u32.u64 %r4, %q7; st.global.u32 [%q1+4], %r3; st.global.u32 [%q1+8], %r4;",
                      before=".func f() { .reg .b64 %q; alloca.u64 %q, 1000; st.local.u32 [%q], 1; ret; }"), [9, 0, 32]),
    "alloca without end": (kernel("L: alloca.u64 %q2, 1000; bra L;"), None, "stack overflow: "),
    "memory of several": (kernel("multimem.st.relaxed.gpu.global.v2.f32 [%q1], {0f3F800000, 0f40000000}; multimem.red.relaxed.gpu.global.add.u32 [%q1+8], 5;"
                                 "multimem.red.relaxed.gpu.global.add.v2.f32 [%q1], {0f3F800000, 0f3F800000};"
                                 "multimem.ld_reduce.relaxed.gpu.global.add.f32 %f1, [%q1+4]; st.global.f32 [%q1+12], %f1;"),
                          [0x40000000, 0x40400000, 5, 0x40400000]),
    # A is ones, each line of B 1, 2, 4, 8 again and again. Of four, lines 0 to 7 have the upper two, lines 8 to 15 the lower two.
    "a sparse product of four warps": (kernel("mov.u32 %r2, %tid.x; shl.b32 %r3, %r2, 4; mov.u32 %r4, s; add.u32 %r3, %r3, %r4; mov.b32 %r5, 0x3c003c00;"
                                              "st.shared.v4.b32 [%r3], {%r5, %r5, %r5, %r5}; mov.b32 %r6, 0x40003c00; mov.b32 %r7, 0x48004400;"
                                              "and.b32 %r8, %r2, 31; shl.b32 %r8, %r8, 4; add.u32 %r8, %r8, %r4; st.shared.v4.b32 [%r8+2048], {%r6, %r7, %r6, %r7};"
                                              "fence.proxy.async; bar.sync 0; shr.u32 %r4, %r4, 4; cvt.u64.u32 %q2, %r4; add.u64 %q2, %q2, 0x1000080000;"
                                              "add.u64 %q3, %q2, 128; mov.b32 %r9, 0x4444eeee; setp.ne.u64 %p1, %q1, %q1; wgmma.fence.sync.aligned;"
                                              "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f1, %f2, %f3, %f4}, %q2, %q3, %r9, 0, %p1, 1, 1, 0, 0;"
                                              "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; cvt.rzi.u32.f32 %r10, %f2; cvt.rzi.u32.f32 %r11, %f3;"
                                              "mad.lo.u32 %r1, %r10, 1000, %r11;" + lanes("").replace("%laneid", "%tid.x"),
                                              more=".shared .align 128 .b8 s[2560];"), [96024] * 128, "", 128),
    "a name that is near": (kernel("muv.u32 %r1, 1;"), None, "unknown instruction 'muv'; did you mean"),
    "calling itself": (kernel("call f, ();", before=".func f() { call f, (); ret; }"), None, "stack overflow: calls within calls, or alloca, need more than the 16"),
}


def struct_float(word):
    import struct
    return struct.unpack("f", struct.pack("I", word))[0]


def run(path, text, want, block, more):
    more = list(more)
    count = len(want) if isinstance(want, list) else 1
    if more[:1] == ["--words"]:
        count = int(more[1])
        more = []
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    p = subprocess.run([FATHOM, "sim", path, "--entry", "k", "--gpu", "h200", "--grid", "1", "--block", str(block), "--arg", f"out:{count}", *more],
                       capture_output=True, text=True, timeout=60, check=False)
    words = [int(w) for line in p.stdout.splitlines() if re.match(r" +\d+:", line) for w in line.split(":")[1].split()]
    return p.returncode, words, p.stdout + p.stderr


def main():
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, case in CASES.items():
            text, want, said, block, more = (list(case) + ["", 1, []][len(case) - 2:])[:5]
            rc, words, out = run(f"{folder}/case.ptx", text, want, block, more)
            right = rc != 0 if want is None else rc == 0 and (want(words) if callable(want) else words == [w & 0xffffffff for w in want])
            if not right or said not in out:
                bad += 1
                print(f"{name}: exit {rc}, words {words[:34]}, {out[:600]}")
    print(f"{len(CASES)} cases, {bad} wrong")
    return 1 if bad else 0


sys.exit(main())
