"""What other packages offer a search: Dask judges candidates on many machines, Optuna proposes them."""
