"""A region in OpenScop as Clan would write it: a matrix product, with the names of arrays."""

PRODUCT = """\
# a comment
<OpenScop>

# Language
C

# Context
CONTEXT
1 3 0 0 0 1
   1    1   -1    ## N-1 >= 0

# Parameters are provided
1
<strings>
N
</strings>

# Number of statements
1

# Number of relations describing the statement:
4

DOMAIN
4 5 2 0 0 1
# e/i| i    j |  N |  1
   1    1    0    0    0    ## i >= 0
   1   -1    0    1   -1    ## -i+N-1 >= 0
   1    0    1    0    0    ## j >= 0
   1    0   -1    1   -1    ## -j+N-1 >= 0

SCATTERING
2 7 2 2 0 1
   0   -1    0    0    1    0    0    ## c1 == j
   0    0   -1    1    0    0    0    ## c2 == i

READ
2 7 2 2 0 1
   0   -1    0    0    0    0    2    ## Arr == B
   0    0   -1    1    0    0   -1    ## [1] == i - 1

WRITE
3 8 3 2 0 1
   0   -1    0    0    0    0    0    1    ## Arr == A
   0    0   -1    0    1    0    0    0    ## [1] == i
   0    0    0   -1    0    1    0    0    ## [2] == j

# Number of Statement Extensions
1
<body>
# Number of original iterators
2
# List of original iterators
i j
# Statement body expression
A[i][j] = B[i-1];
</body>

<arrays>
# Number of arrays
2
1 A
2 B
</arrays>

<scatnames>
c1 c2
</scatnames>
</OpenScop>
"""
