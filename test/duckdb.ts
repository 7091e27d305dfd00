/** DuckDB, as an independent reader of our Parquet, for tests and benchmarks outside this folder too. */
export { DuckDBInstance } from '@duckdb/node-api'
