/* Contraction of the last index of a tensor with a square matrix, in place.
 *
 *     A_rqp <- sum_s A_rqs M_sp
 */
void doitgen(int nr, int nq, int np, double A[nr][nq][np], double M[np][np], double row[np])
{
#pragma scop
    for (int r = 0; r < nr; r++)
        for (int q = 0; q < nq; q++) {
            for (int p = 0; p < np; p++) {
                row[p] = 0.0;
                for (int s = 0; s < np; s++)
                    row[p] += A[r][q][s] * M[s][p];
            }
            for (int p = 0; p < np; p++)
                A[r][q][p] = row[p];
        }
#pragma endscop
}
