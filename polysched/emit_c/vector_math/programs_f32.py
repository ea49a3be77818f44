"""Elementary functions of `float`, as straight-line programs over vectors.

Lines are `TYPE name = expression;` in the notation of `notation`; the last one has no name and is the result.  No line
depends on how products and sums are contracted, and none on a sum that `-ffast-math` could fold: integers are rounded
by adding a large number and read back from the bits.

The polynomials are minimax fits of relative error below 2**-27 (Remez exchange in 50 digits) on the ranges that the
comments name.  The reductions are those of Cody and Waite, "Software Manual for the Elementary Functions", 1980.
"""

from __future__ import annotations

# x = 2**k (1 + f) with 1 + f from sqrt(1/2) to sqrt(2), what every logarithm of x begins with.
_MANTISSA = """
    M tiny = x < 1.17549435e-38f;
    R s = pick(tiny, x * 8388608.0f, x);
    I e = less(bits(s), 0x3F3504F3) >> 23;
    R k = to_real(e) - pick(tiny, splat(23.0f), splat(0.0f));
    R f = real(less(bits(s), e << 23)) - 1.0f;
"""
# How it ends: y for positive numbers, and C's values for the others.
_LOGARITHM = """
    R positive = pick(x < __builtin_inff(), y, x);
    pick(x <= 0.0f, pick(x < 0.0f, splat(__builtin_nanf("")), splat(-__builtin_inff())), positive)
"""
PROGRAMS: dict[str, str] = {
    # exp(x) for |x| <= ln(2)/2.
    "exp_near_0": """
        R z = x * x;
        R a = x * 0.166665194829f + 0.49999993377f;
        R b = x * 0.00836885595449f + 0.0416683986884f;
        ((z * 0.00138145390006f + b) * z + a) * z + (x + 1.0f)
    """,
    # 2**n exp(r), n an integer, |r| <= ln(2)/2; |x| < 200.
    "exp_core": """
        R k = nearest(x * 1.44269504f);
        R r = (x - k * 0.693145752f) - k * 1.42860677e-6f;
        R e = exp_near_0(r);
        scale(e, k)
    """,
    # The same by sixteenths: k a multiple of 1/16, 2**k without its integer part from a register, |r| <= ln(2)/32.
    "exp_core_by_register": """
        R t = hidden(x * 1.44269504f + 786432.0f);
        R k = hidden(t - 786432.0f);
        R r = (x - k * 0.693359375f) + k * 2.12194440e-4f;
        R p = (r * 0.166668629f + 0.500009814f) * r + 1.0f;
        R s = sixteenth_powers(t);
        R e = (s * r) * p + s;
        scale(e, k)
    """,
    "exp": """
        R z = at_least(at_most(x, splat(89.0f)), splat(-104.0f));
        exp_core(z)
    """,
    "exp2": """
        R z = at_least(at_most(x, splat(129.0f)), splat(-151.0f));
        R k = nearest(z);
        R e = exp_near_0((z - k) * 0.693147181f);
        scale(e, k)
    """,
    # What is left of a logarithm once exponent and mantissa are apart: f = m - 1 with m from sqrt(1/2) to sqrt(2).
    "log1p_tail": """
        R a = x * 0.0710596979929f - 0.119732031834f;
        R b = (a * x + 0.118916277722f) * x - 0.123574212663f;
        R c = (b * x + 0.142125734593f) * x - 0.166704097279f;
        R d = (c * x + 0.200025541991f) * x - 0.249999730001f;
        ((d * x + 0.333333059311f) * x - 0.5f) * x * x
    """,
    "log": _MANTISSA + """
        R y = k * 0.693359375f + (f + (log1p_tail(f) - k * 2.12194440e-4f));
    """ + _LOGARITHM,
    "log2": _MANTISSA + """
        R g = log1p_tail(f);
        R y = k + (f + (f * 0.442695041f + g * 1.44269504f));
    """ + _LOGARITHM,
    "log10": _MANTISSA + """
        R g = f + log1p_tail(f);
        R y = k * 0.301025391f + (g * 0.434294492f + k * 4.60503907e-06f);
    """ + _LOGARITHM,
    # exp(x) - 1 - x for |x| <= ln(2)/2.
    "expm1_tail": """
        R z = x * x;
        R a = x * 0.166665194829f + 0.49999993377f;
        R b = x * 0.00836885595449f + 0.0416683986884f;
        ((z * 0.00138145390006f + b) * z + a) * z
    """,
    # 2**k (exp(r) - 1 + (1 - 2**-k)); what is in parentheses is exact, and no number to be reassociated.
    "expm1": """
        R w = at_least(at_most(x, splat(89.0f)), splat(-20.0f));
        R k = nearest(w * 1.44269504f);
        R r = (w - k * 0.693145752f) - k * 1.42860677e-6f;
        R t = 1.0f - scale(splat(1.0f), -k);
        R p = (r + expm1_tail(r)) + pick(k == 0.0f, splat(0.0f), t);
        copysign(scale(p, k), x)
    """,
    # 1 + x = 2**k (1 + f), with f = x 2**-k + (2**-k - 1) rounded once.
    "log1p": """
        R u = 1.0f + x;
        I e = less(bits(u), 0x3F3504F3) >> 23;
        R k = to_real(e);
        R t = scale(splat(1.0f), -k) - 1.0f;
        R f = scale(x, -k) + pick(e == 0, splat(0.0f), t);
        R y = k * 0.693359375f + (f + (log1p_tail(f) - k * 2.12194440e-4f));
        R more = pick(x < __builtin_inff(), y, x);
        copysign(pick(x <= -1.0f, pick(x < -1.0f, splat(__builtin_nanf("")), splat(-__builtin_inff())), more), x)
    """,
    # |x| = 8**q w with w = 2**o m, 1 <= m < 2 and o = -1, 0 or 1; w**(-1/3) by a polynomial in m and Newton's steps.
    "cbrt": """
        R a = fabs(x);
        M tiny = a < 1.17549435e-38f;
        R v = pick(tiny, a * 16777216.0f, a);
        I e = (bits(v) >> 23) - 127;
        R k = to_real(e);
        R q = nearest(k * 0.333333343f);
        R o = k - 3.0f * q;
        R m = real(less(bits(v), e << 23));
        R b = ((-0.0486330539f * m + 0.31184727f) * m - 0.801274598f) * m + 1.53776026f;
        R y = b * pick(o < 0.0f, splat(1.25992105f), pick(o > 0.0f, splat(0.793700526f), splat(1.0f)));
        R w = scale(m, o);
        R h = 1.0f - w * (y * y * y);
        R i = y + y * (h * (0.222222222f * h + 0.333333333f));
        R i2 = i * i;
        R c = w * i2;
        R d = c - (c * c * c - w) * (i2 * 0.333333333f);
        R p = scale(d, pick(tiny, q - 8.0f, q));
        copysign(pick((a == 0.0f) | ~(a < __builtin_inff()), a, p), x)
    """,
    # sin(x + y pi/2), y = 0 or 1: x = k pi/2 + r, with pi/2 in four parts of which k times the first three are exact.
    # n has k + y in its last bits and is positive, which compilers do not know: they keep the first difference.
    "sine_core": """
        R k = nearest(x * 0.636619747f);
        I n = bits((k + y) + 12582912.0f);
        R m = real(bits(x - k * 1.57080078f) ^ (n & signs()));
        R r = ((m - k * -4.45451587e-06f) - k * 6.07656148e-11f) - k * 5.39030295e-15f;
        R z = r * r;
        R s = r + r * (((z * -1.9515295891e-4f + 8.3321608736e-3f) * z - 1.6666654611e-1f) * z);
        R d = (z * 2.443315711809948e-5f - 1.388731625493765e-3f) * z + 4.166664568298827e-2f;
        R c = 1.0f - (0.5f * z - d * (z * z));
        M odd = -(n & 1);
        real(bits(pick(odd, c, s)) ^ ((n & 2) << 30))
    """,
    "sin": """
        R s = pick(fabs(x) < 2.44140625e-4f, x, sine_core(x, splat(0.0f)));
        by_libm_sin(s, x, fabs(x) > 3200.0f)
    """,
    "cos": """
        R c = sine_core(x, splat(1.0f));
        by_libm_cos(c, x, fabs(x) > 3200.0f)
    """,
    # Below 0.625 an odd polynomial, above by the exponential.
    "tanh": """
        R a = fabs(x);
        R z = x * x;
        R q = z * -0.00570506852647f + 0.0206392050595f;
        R p = ((q * z - 0.0537397695609f) * z + 0.133314431319f) * z - 0.333332819866f;
        R large = at_most(a, splat(10.0f));
        R e = exp_core(large + large);
        R t = 1.0f - 2.0f / (e + 1.0f);
        copysign(pick(a < 0.625f, a + a * (z * p), t), x)
    """,
    # Below 1 an odd polynomial, above 1 - exp(polynomial).
    "erf": """
        R a = fabs(x);
        R z = x * x;
        R u = (z * 7.85384982843e-5f - 0.000801020269927f) * z + 0.00518833048259f;
        R v = (u * z - 0.0268538145821f) * z + 0.112835852486f;
        R small = (v * z - 0.376126258375f) * z + 0.12837916573f;
        R b = at_most(a, splat(4.0f));
        R c = (b * -2.16973326558e-5f + 0.000441469165098f) * b - 0.00420526663343f;
        R d = (c * b + 0.0252102885359f) * b - 0.108422014544f;
        R g = ((d * b - 0.633216479795f) * b - 1.12958026744f) * b + 0.000188457997844f;
        R t = 1.0f - exp_core(g);
        copysign(pick(a < 1.0f, a + a * small, pick(a >= 4.0f, splat(1.0f), t)), x)
    """,
    # exp2(y log2|x|) in double, which also has room for every exponent; then the cases of C11, annex F.10.4.4.
    "pow": """
        R a = fabs(x);
        D w = widen(a);
        J e = wide_less(wide_bits(w), 0x3FE6A09E00000000L) >> 52;
        D m = wide_real(wide_less(wide_bits(w), e << 52));
        D s = (m - 1.0) / (m + 1.0);
        D z = s * s;
        D c = (z * 0.23596285633291616 + 0.28536607693377676) * z + 0.4000034544481001;
        D l = s * ((c * z + 0.6666666560407282) * z + 2.0) * 1.4426950408889634 + wide_to_real(e);
        D finite = wide_pick(w < __builtin_inf(), l, w);
        D g = wide_pick(w == 0.0, wide_splat(-__builtin_inf()), finite);
        D wy = widen(y);
        D product = wide_pick((wy == 0.0) | (w == 1.0), wide_splat(0.0), wy * g);
        D low = wide_pick(product < -300.0, wide_splat(-300.0), product);
        D h = wide_pick(low > 300.0, wide_splat(300.0), low);
        D t = h + 6755399441055744.0;
        J n = wide_less(wide_bits(t), 0x4338000000000000L);
        D r = (h - wide_to_real(n)) * 0.6931471805599453;
        D q = (r * 0.0013944872393389 + 0.0083334990226658694) * r + 0.041666292189740366;
        D p = (q * r + 0.16666665854972146) * r + 0.5;
        R v = narrow(((p * r) * r + r + 1.0) * wide_real(wide_less(n, -1023L) << 52));
        M whole = rint(y) == y;
        M odd = whole & (rint(y * 0.5f) * 2.0f != y);
        M flip = odd & (bits(x) < 0);
        R signed_ = real(bits(v) ^ (as_int(flip) & signs()));
        M undefined = (x < 0.0f) & (a < __builtin_inff()) & ~whole;
        M nan = ((x != x) | (y != y)) & ~((x == 1.0f) | (y == 0.0f));
        pick(undefined, splat(__builtin_nanf("")), pick(nan, x + y, signed_))
    """,
}
