#include <math.h>

/* Deriche's recursive smoothing of an image, in single precision.
 *
 * Along each line a causal and an anticausal filter of second order are added,
 *     u_j = c0 x_j     + c1 x_(j-1) + g u_(j-1) + h u_(j-2)
 *     v_j = c2 x_(j+1) + c3 x_(j+2) + g v_(j+1) + h v_(j+2),     out = u + v,
 * first along the rows and then, on the result, along the columns.  With e = exp(-alpha):
 *     k = (1 - e)^2 / (1 + 2 alpha e - e^2),  c0 = k,  c1 = k e (alpha - 1),  c2 = k e (alpha + 1),
 *     c3 = -k e^2,  g = 2 e,  h = -e^2.
 */
#define DECAY(times) expf(-(times) * alpha)

void deriche(int w, int h, float alpha, float image[w][h], float out[w][h], float u[w][h], float v[w][h])
{
    float k, c0, c1, c2, c3, g1, g2;
    float x1, x2, u1, u2, v1, v2;
#pragma scop
    k = (1.0f - DECAY(1.0f)) * (1.0f - DECAY(1.0f)) / (1.0f + 2.0f * alpha * DECAY(1.0f) - DECAY(2.0f));
    c0 = k;
    c1 = k * DECAY(1.0f) * (alpha - 1.0f);
    c2 = k * DECAY(1.0f) * (alpha + 1.0f);
    c3 = -k * DECAY(2.0f);
    g1 = 2.0f * DECAY(1.0f);
    g2 = -DECAY(2.0f);

    for (int i = 0; i < w; i++) {
        u1 = u2 = x1 = 0.0f;
        for (int j = 0; j < h; j++) {
            u[i][j] = c0 * image[i][j] + c1 * x1 + g1 * u1 + g2 * u2;
            x1 = image[i][j];
            u2 = u1;
            u1 = u[i][j];
        }
    }
    for (int i = 0; i < w; i++) {
        v1 = v2 = x1 = x2 = 0.0f;
        for (int j = h - 1; j >= 0; j--) {
            v[i][j] = c2 * x1 + c3 * x2 + g1 * v1 + g2 * v2;
            x2 = x1;
            x1 = image[i][j];
            v2 = v1;
            v1 = v[i][j];
        }
    }
    for (int i = 0; i < w; i++)
        for (int j = 0; j < h; j++)
            out[i][j] = u[i][j] + v[i][j];

    for (int j = 0; j < h; j++) {
        u1 = u2 = x1 = 0.0f;
        for (int i = 0; i < w; i++) {
            u[i][j] = c0 * out[i][j] + c1 * x1 + g1 * u1 + g2 * u2;
            x1 = out[i][j];
            u2 = u1;
            u1 = u[i][j];
        }
    }
    for (int j = 0; j < h; j++) {
        v1 = v2 = x1 = x2 = 0.0f;
        for (int i = w - 1; i >= 0; i--) {
            v[i][j] = c2 * x1 + c3 * x2 + g1 * v1 + g2 * v2;
            x2 = x1;
            x1 = out[i][j];
            v2 = v1;
            v1 = v[i][j];
        }
    }
    for (int i = 0; i < w; i++)
        for (int j = 0; j < h; j++)
            out[i][j] = u[i][j] + v[i][j];
#pragma endscop
}
