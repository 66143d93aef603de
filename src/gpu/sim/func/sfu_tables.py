#!/usr/bin/env python3
"""Coefficients of the special function unit, at build time.

Every function is cut into segments; in each, f = c0 + c1 x + c2 x^2 with x the lower bits of the argument as an integer.
The words are as narrow as hardware's (26 bits for c0, some 16 for c1, some 10 for c2). For each segment the quadratic
through the Chebyshev points is rounded word by word: c1 and its neighbours first, for each of them the c2 that suits it,
then the c0 that halves the error that is left. Of what comes out, the most accurate is taken that does not turn back where
the segment before it ended, so that the whole is monotonic. All of it in decimal arithmetic of 40 digits, so that every machine writes
the same file.
"""
import sys
from decimal import Decimal, getcontext, ROUND_FLOOR, ROUND_HALF_EVEN

getcontext().prec = 40
ONE, TWO = Decimal(1), Decimal(2)
LN2 = TWO.ln()
PI = Decimal('3.1415926535897932384626433832795028841972')
C0_BITS = 26
POINTS = 24  # a segment's error is looked at here


def sine(v):
    term, total, n = v, v, 1
    while abs(term) > Decimal(10) ** -38:
        n += 2
        term = -term * v * v / (n * (n - 1))
        total += term
    return total


def tanh_over_x(v):
    if v == 0:
        return ONE
    e = (2 * v).exp()
    if v < Decimal('0.01'):
        return 1 - v * v / 3 + 2 * v ** 4 / 15 - 17 * v ** 6 / 315 + 62 * v ** 8 / 2835
    return (e - 1) / (e + 1) / v


# name, function of the argument, first argument, bits of the segment number, bits of x, weight of x's last bit,
# fraction bits of c1 and of c2, whether the first value is kept exactly, fraction bits of the rounded result, direction
TABLES = [
    ('rcp', lambda v: 1 / v, 1, 7, 16, 23, 16, 10, True, 24, -1),
    ('rsqrt_low', lambda v: 1 / v.sqrt(), 1, 6, 17, 23, 17, 11, True, 24, -1),
    ('rsqrt_high', lambda v: 1 / v.sqrt(), 2, 6, 17, 22, 18, 14, False, 24, -1),
    ('sqrt_low', lambda v: v.sqrt(), 1, 6, 17, 23, 17, 12, True, 23, 1),
    ('sqrt_high', lambda v: v.sqrt(), 2, 6, 17, 22, 17, 14, False, 23, 1),
    ('ex2', lambda v: (v * LN2).exp(), 0, 6, 17, 23, 15, 10, True, 23, 1),
    ('lg2', lambda v: v.ln() / LN2, 1, 6, 17, 23, 15, 10, True, 32, 1),
    ('sin', lambda v: sine(v * PI / 2), 0, 6, 19, 25, 15, 11, True, 30, 0),
    ('tanh', tanh_over_x, 0, 7, 16, 20, 16, 12, True, 24, 0),
]


def floor(v):
    return int(v.to_integral_value(ROUND_FLOOR))


def nearest(v):
    return int(v.to_integral_value(ROUND_HALF_EVEN))


def cosine(k, n):
    return sine(PI / 2 - PI * (2 * k + 1) / (2 * n))


def segment(f, start, width, step, s1, s2, keep, nodes):
    """All (error, c0, c1, c2) worth a thought on start + [0, width], the best first."""
    scale1, scale2, scale0 = TWO ** s1, TWO ** s2, TWO ** C0_BITS
    x = [width * (1 + c) / 2 for c in nodes[3]]
    y = [f(start + v) for v in x]
    d01, d12 = (y[1] - y[0]) / (x[1] - x[0]), (y[2] - y[1]) / (x[2] - x[1])
    q2 = (d12 - d01) / (x[2] - x[0])
    q1 = d01 - q2 * (x[0] + x[1])
    points = [width * (1 + c) / 2 for c in nodes[POINTS]] + [Decimal(0), width - step]
    values = [f(start + v) for v in points]
    first = f(start)
    found = []
    for c1 in range(floor(q1 * scale1) - 1, floor(q1 * scale1) + 3):
        # What c1 is too large or too small by is made good by c2, in the mean over the segment.
        adjusted = q2 + (q1 - c1 / scale1) / width
        for c2 in range(floor(adjusted * scale2) - 1, floor(adjusted * scale2) + 3):
            rest = [v - c1 / scale1 * p - c2 / scale2 * p * p for p, v in zip(points, values)]
            middle = nearest((first if keep else (max(rest) + min(rest)) / 2) * scale0)
            for c0 in [middle] if keep else range(middle - 2, middle + 3):
                found.append((max(abs(r - c0 / scale0) for r in rest), c0, c1, c2))
    return sorted(found)


def main(out):
    nodes = {n: [cosine(k, n) for k in range(n)] for n in (3, POINTS)}
    out.write('/* Written by sfu_tables.py. */\n')
    for name, f, start, bits, low, weight, s1, s2, exact, result, direction in TABLES:
        step = TWO ** -weight
        width = step * 2 ** low
        t = 2 * weight + s2
        out.write('static const struct sfu_table sfu_%s = {.low = %d, .shift0 = %d, .shift1 = %d, .scale = %d, .c = {\n'
                  % (name, low, t - C0_BITS, t - weight - s1, t))
        worst = Decimal(0)
        if not name.endswith('_high'):  # those go on where their low halves end
            last = None

        def value(c, n):
            total = (c[1] << (t - C0_BITS)) + (c[2] * n << (t - weight - s1)) + c[3] * n * n
            return (total + (1 << (t - result - 1))) >> (t - result)

        for k in range(2 ** bits):
            choice = segment(f, start + width * k, width, step, s1, s2, exact and k == 0, nodes)
            if last is not None and direction:
                choice = [c for c in choice if (value(c, 0) - last) * direction >= 0]
            error, c0, c1, c2 = choice[0]
            last = value(choice[0], 2 ** low - 1)
            worst = max(worst, error)
            out.write('\t{%d, %d, %d},\n' % (c0, c1, c2))
        out.write('}}; /* error before rounding: 2^%.2f */\n' % float(worst.ln() / LN2))


if __name__ == '__main__':
    if len(sys.argv) > 1:
        with open(sys.argv[1], 'w', encoding='utf-8') as f_out:
            main(f_out)
    else:
        main(sys.stdout)
