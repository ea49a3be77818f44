/* Lengths of all shortest paths in a directed graph.
 *
 *     d_ij <- min(d_ij, d_ik + d_kj)   for k = 0, 1, ..., n-1
 */
void floyd_warshall(int n, int d[n][n])
{
#pragma scop
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                d[i][j] = d[i][j] < d[i][k] + d[k][j] ? d[i][j] : d[i][k] + d[k][j];
#pragma endscop
}
