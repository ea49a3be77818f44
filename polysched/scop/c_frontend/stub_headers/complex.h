#ifndef POLYSCHED_COMPLEX_H
#define POLYSCHED_COMPLEX_H
#define complex _Complex
#define _Complex_I (1.0fi)
#define I _Complex_I
double creal(double _Complex);
double cimag(double _Complex);
double cabs(double _Complex);
double _Complex conj(double _Complex);
double _Complex cexp(double _Complex);
#endif
