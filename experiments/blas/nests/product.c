/* C <- C + A B. */
void product(TYPE C[M][N], const TYPE A[M][K], const TYPE B[K][N])
{
#pragma scop
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < K; k++)
                C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
