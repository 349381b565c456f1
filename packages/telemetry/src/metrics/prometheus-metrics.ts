/** Metrics as prom-client returns them. */
export type PrometheusMetrics = readonly {
  readonly name: string;
  readonly help: string;
  readonly type: unknown;
  readonly values: readonly {
    readonly value: number;
    readonly labels: Readonly<Record<string, string | number | undefined>>;
    /** Name of a part of a histogram, such as `…_bucket`. */
    readonly metricName?: string;
  }[];
}[];
