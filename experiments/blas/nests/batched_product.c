/* C_b <- C_b + A_b B_b for every member b of a batch. */
void batched_product(TYPE C[BATCH][M][N], const TYPE A[BATCH][M][K], const TYPE B[BATCH][K][N])
{
#pragma scop
    for (int b = 0; b < BATCH; b++)
        for (int i = 0; i < M; i++)
            for (int j = 0; j < N; j++)
                for (int k = 0; k < K; k++)
                    C[b][i][j] += A[b][i][k] * B[b][k][j];
#pragma endscop
}
