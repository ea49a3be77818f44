"""Elementary functions of `double`, as straight-line programs over vectors; see `programs_f32`.

`pow` follows the scheme of fdlibm (K. C. Ng, Sun Microsystems, 1993): the logarithm as a sum of two numbers, of which
the first is short enough that its products are exact.
"""

from __future__ import annotations

# x = 2**k (1 + f) with 1 + f from sqrt(1/2) to sqrt(2), what every logarithm of x begins with, and the quotients of f.
_MANTISSA = """
    M tiny = x < 2.2250738585072014e-308;
    R v = pick(tiny, x * 18014398509481984.0, x);
    I e = less(bits(v), 0x3FE6A09E667F3BCDL) >> 52;
    R k = to_real(e) - pick(tiny, splat(54.0), splat(0.0));
    R f = real(less(bits(v), e << 52)) - 1.0;
    R s = f / (2.0 + f);
    R h = 0.5 * f * f;
"""
# How it ends: y for positive numbers, and C's values for the others.
_LOGARITHM = """
    R positive = pick(x < __builtin_inf(), y, x);
    pick(x <= 0.0, pick(x < 0.0, splat(__builtin_nan("")), splat(-__builtin_inf())), positive)
"""
PROGRAMS: dict[str, str] = {
    # 2**n exp(r), n an integer, |r| <= ln(2)/2; |x| < 1400.
    "exp_core": """
        R k = nearest(x * 1.4426950408889634);
        R r = (x - k * 0.69314718036912382) - k * 1.9082149292705877e-10;
        R e = expm1_tail(r) + r + 1.0;
        scale(e, k)
    """,
    # exp(x) - 1 - x for |x| <= ln(2)/2.
    "expm1_tail": """
        R a = (x * 2.5000349340787197e-8 + 2.7630534311188576e-7) * x + 2.7557588027478647e-6;
        R b = (a * x + 2.4801492359524790e-5) * x + 1.9841269504117330e-4;
        R c = (b * x + 1.3888888944275267e-3) * x + 8.3333333334963753e-3;
        R d = (c * x + 4.1666666666528012e-2) * x + 1.6666666666666408e-1;
        (d * x + 5.0000000000000108e-1) * x * x
    """,
    "exp": """
        R z = at_least(at_most(x, splat(710.0)), splat(-746.0));
        exp_core(z)
    """,
    "exp2": """
        R z = at_least(at_most(x, splat(1025.0)), splat(-1076.0));
        R k = nearest(z);
        R r = (z - k) * 0.6931471805599453;
        R e = expm1_tail(r) + r + 1.0;
        scale(e, k)
    """,
    # (2 atanh(s) - 2 s) / s with s = f / (2 + f), as a polynomial in s squared; |f| <= sqrt(2) - 1.
    "atanh_tail": """
        R a = (x * 0.14811540272313361 + 0.15312569889774242) * x + 0.18183618986697485;
        R b = (a * x + 0.22222197587405663) * x + 0.28571428751301956;
        ((b * x + 0.39999999999377986) * x + 0.66666666666667394) * x
    """,
    "log": _MANTISSA + """
        R y = k * 0.69314718036912382 - ((h - (s * (h + atanh_tail(s * s)) + k * 1.9082149292705877e-10)) - f);
    """ + _LOGARITHM,
    "log2": _MANTISSA + """
        R g = f - (h - s * (h + atanh_tail(s * s)));
        R y = k + g * 1.4426950408889634;
    """ + _LOGARITHM,
    "log10": _MANTISSA + """
        R g = f - (h - s * (h + atanh_tail(s * s)));
        R y = k * 0.30102999566361177 + (g * 0.4342944819032518 + k * 3.694239077158931e-13);
    """ + _LOGARITHM,
    "expm1": """
        R w = at_least(at_most(x, splat(710.0)), splat(-45.0));
        R k = nearest(w * 1.4426950408889634);
        R r = (w - k * 0.69314718036912382) - k * 1.9082149292705877e-10;
        R t = 1.0 - scale(splat(1.0), -k);
        R p = (r + expm1_tail(r)) + pick(k == 0.0, splat(0.0), t);
        copysign(scale(p, k), x)
    """,
    "log1p": """
        R u = 1.0 + x;
        I e = less(bits(u), 0x3FE6A09E667F3BCDL) >> 52;
        R k = to_real(e);
        R t = scale(splat(1.0), -k) - 1.0;
        R f = scale(x, -k) + pick(e == 0, splat(0.0), t);
        R s = f / (2.0 + f);
        R h = 0.5 * f * f;
        R y = k * 0.69314718036912382 - ((h - (s * (h + atanh_tail(s * s)) + k * 1.9082149292705877e-10)) - f);
        R more = pick(x < __builtin_inf(), y, x);
        copysign(pick(x <= -1.0, pick(x < -1.0, splat(__builtin_nan("")), splat(-__builtin_inf())), more), x)
    """,
    "cbrt": """
        R a = fabs(x);
        M tiny = a < 2.2250738585072014e-308;
        R v = pick(tiny, a * 18014398509481984.0, a);
        I e = (bits(v) >> 52) - 1023;
        R k = to_real(e);
        R q = nearest(k * 0.3333333333333333);
        R o = k - 3.0 * q;
        R m = real(less(bits(v), e << 52));
        R z = (0.027782801018590923 * m - 0.21636185469248398) * m + 0.6846527077323217;
        R b = (z * m - 1.1623973573079032) * m + 1.6662787377309467;
        R j = b * pick(o < 0.0, splat(1.259921049894873), pick(o > 0.0, splat(0.7937005259840998), splat(1.0)));
        R w = scale(m, o);
        R g = 1.0 - w * (j * j * j);
        R y = j + j * (g * ((0.1728395061728395 * g + 0.2222222222222222) * g + 0.3333333333333333));
        R h = 1.0 - w * (y * y * y);
        R i = y + y * (h * 0.3333333333333333);
        R i2 = i * i;
        R c = w * i2;
        R d = c - (c * c * c - w) * (i2 * 0.3333333333333333);
        R p = scale(d, pick(tiny, q - 18.0, q));
        copysign(pick((a == 0.0) | ~(a < __builtin_inf()), a, p), x)
    """,
    # sin(x + y pi/2), y = 0 or 1: x = k pi/2 + r, with pi/2 in four parts of which k times the first three are exact.
    # n has k + y in its last bits and is positive, which compilers do not know: they keep the first difference.
    "sine_core": """
        R k = nearest(x * 0.6366197723675814);
        I n = bits((k + y) + 6755399441055744.0);
        R m = real(bits(x - k * 1.5707963267341256) ^ (n & signs()));
        R r = ((m - k * 6.077100506303966e-11) - k * 2.0222662487111665e-21) - k * 8.4784276603689e-32;
        R z = r * r;
        R u = (z * 1.58969099521155010221e-10 - 2.50507602534068634195e-8) * z + 2.75573137070700676789e-6;
        R v = (u * z - 1.98412698298579493134e-4) * z + 8.33333333332248946124e-3;
        R s = r + r * ((v * z - 1.66666666666666324348e-1) * z);
        R d = (z * -1.13596475577881948265e-11 + 2.08757232129817482790e-9) * z - 2.75573143513906633035e-7;
        R e = (d * z + 2.48015872894767294178e-5) * z - 1.38888888888741095749e-3;
        R c = 1.0 - (0.5 * z - ((e * z + 4.16666666666666019037e-2) * (z * z)));
        M odd = -(n & 1);
        real(bits(pick(odd, c, s)) ^ ((n & 2) << 62))
    """,
    "sin": """
        R s = pick(fabs(x) < 7.450580596923828e-9, x, sine_core(x, splat(0.0)));
        by_libm_sin(s, x, fabs(x) > 1600000.0)
    """,
    "cos": """
        R c = sine_core(x, splat(1.0));
        by_libm_cos(c, x, fabs(x) > 1600000.0)
    """,
    # Below 0.55 an odd polynomial, above by the exponential.
    "tanh": """
        R a = fabs(x);
        R z = x * x;
        R o = (z * -1.9494690524235212e-5 + 8.3316453639396163e-5) * z - 2.3338157041735833e-4;
        R q = (o * z + 5.8844448843454307e-4) * z - 1.4555428462968552e-3;
        R s = (q * z + 3.5920920305073522e-3) * z - 8.8632326014442322e-3;
        R u = (s * z + 2.1869488385855409e-2) * z - 5.3968253963760548e-2;
        R p = (u * z + 1.3333333333326621e-1) * z - 3.3333333333333298e-1;
        R large = at_most(a, splat(20.0));
        R e = exp_core(large + large);
        R t = 1.0 - 2.0 / (e + 1.0);
        copysign(pick(a < 0.55, a + a * (z * p), t), x)
    """,
    # Below 0.75 an odd polynomial, above 1 - exp(-a a) erfcx(a) with a polynomial in (a - 2) / (a + 2).
    "erf": """
        R a = fabs(x);
        R z = x * x;
        R u = (z * 1.1463754999125270e-8 - 1.5937601144617581e-7) * z + 1.6430388610664248e-6;
        R v = (u * z - 1.4924176683082207e-5) * z + 1.2055288779975640e-4;
        R w = (v * z - 8.5483261691862076e-4) * z + 5.2239776151242027e-3;
        R o = (w * z - 2.6866170644402695e-2) * z + 1.1283791670952482e-1;
        R small = (o * z - 3.7612638903183715e-1) * z + 0.12837916709551257;
        R b = at_most(a, splat(6.0));
        R t = (b - 2.0) / (b + 2.0);
        R c = (t * 9.0438169933475110e-7 - 1.0424387232424310e-6) * t - 1.4866412019594275e-5;
        R d = (c * t - 2.7599232187114768e-5) * t + 2.7625308424834820e-5;
        R e = (d * t + 1.7439070691799314e-4) * t + 4.3555960208243336e-5;
        R g = (e * t - 9.8197825815834725e-4) * t - 8.4714342885570410e-4;
        R h = (g * t + 6.9974617467073117e-3) * t + 3.7328924074617612e-3;
        R i = (h * t - 7.8978581015610705e-2) * t + 2.4165819424245576e-1;
        R j = (i * t - 4.2718584741395897e-1) * t + 2.5539567631050574e-1;
        R large = 1.0 - exp_core(-(b * b)) * j;
        copysign(pick(a < 0.75, a + a * small, large), x)
    """,
    "pow": """
        R a = fabs(x);
        M tiny = a < 2.2250738585072014e-308;
        R v = pick(tiny, a * 18014398509481984.0, a);
        I e = less(bits(v), 0x3FE6A09E667F3BCDL) >> 52;
        R k = to_real(e) - pick(tiny, splat(54.0), splat(0.0));
        R m = real(less(bits(v), e << 52));
        R f = m - 1.0;
        R d = m + 1.0;
        R dh = real(bits(d) & -0x8000000L);
        R dl = m - (dh - 1.0);
        R s = f / d;
        R sh = real(bits(s) & -0x8000000L);
        R sl = ((f - sh * dh) - sh * dl) / d;
        R z = s * s;
        R c0 = (z * 0.19817350021524158 + 0.19882825541924819) * z + 0.23080236214083714;
        R c1 = (c0 * z + 0.27272674444185678) * z + 0.33333333803088071;
        R c2 = (c1 * z + 0.42857142855024761) * z + 0.60000000000003632;
        R b = c2 * z * z + sl * (sh + s);
        R zh = sh * sh;
        R th = real(bits(3.0 + zh + b) & -0x8000000L);
        R tl = b - ((th - 3.0) - zh);
        R ph0 = sh * th;
        R pl0 = sl * th + tl * s;
        R ph = real(bits(ph0 + pl0) & -0x8000000L);
        R pl = pl0 - (ph - ph0);
        R gh = ph * 0.961796700954437256;
        R gl = pl * 0.961796693925975554 - ph * 7.02846165095275827e-9;
        R lh = real(bits((gh + gl) + k) & -0x8000000L);
        R ll = gl - ((lh - k) - gh);
        R yh = real(bits(y) & -0x8000000L);
        R rest = (y - yh) * lh + y * ll;
        R main = yh * lh;
        R sum = main + rest;
        R magnitude = fabs(y);
        M wild = (a == 0.0) | ~(a < __builtin_inf()) | ~(magnitude < 1e300) | ~(fabs(sum) < 1080.0);
        R logarithm = pick(a == 0.0, splat(-__builtin_inf()), pick(a < __builtin_inf(), lh, a));
        R product = pick((y == 0.0) | (a == 1.0), splat(0.0), y * logarithm);
        R w = pick(wild, product, main);
        R wl = pick(wild, splat(0.0), rest);
        R h = at_least(at_most(w, splat(1030.0)), splat(-1080.0));
        R o = nearest(h + wl);
        R u = (h - o) + wl;
        R uh = real(bits(u) & -0x8000000L);
        R ul = wl - (uh - (h - o));
        R rh = uh * 0.69314718246459961;
        R r2 = u * -1.9046542999577680e-9 + ul * 0.69314718246459961;
        R r = rh + r2;
        R q = (expm1_tail(r) + (r2 - (r - rh))) + r + 1.0;
        R power = scale(q, o);
        M whole = rint(y) == y;
        M odd = whole & (rint(y * 0.5) * 2.0 != y);
        M flip = odd & (bits(x) < 0);
        R signed_ = real(bits(power) ^ (as_int(flip) & signs()));
        M undefined = (x < 0.0) & (a < __builtin_inf()) & ~whole;
        M nan = ((x != x) | (y != y)) & ~((x == 1.0) | (y == 0.0));
        pick(undefined, splat(__builtin_nan("")), pick(nan, x + y, signed_))
    """,
}
