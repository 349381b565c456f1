import { type HrTime, ValueType } from "@opentelemetry/api";
import type { Resource } from "@opentelemetry/resources";
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
  type MetricProducer,
} from "@opentelemetry/sdk-metrics";
import type { PrometheusMetrics } from "../metrics/prometheus-metrics.ts";

type PrometheusMetric = PrometheusMetrics[number];

/** Exports the metrics of Prometheus under the same names, so that both systems have the same values. */
export function createMetricProducer(
  read: () => Promise<PrometheusMetrics>,
  resource: Resource,
): MetricProducer {
  const startTime = toHrTime(performance.timeOrigin);
  return {
    async collect() {
      const endTime = toHrTime(Date.now());
      const metrics = await read();
      const scope = { name: "signalbox/prometheus" };
      return {
        resourceMetrics: {
          resource,
          scopeMetrics: [
            { scope, metrics: metrics.flatMap((metric) => convert(metric, startTime, endTime)) },
          ],
        },
        errors: [],
      };
    },
  };
}

function convert(metric: PrometheusMetric, startTime: HrTime, endTime: HrTime): MetricData[] {
  const { name, help, type, values } = metric;
  const common = {
    descriptor: { name, description: help, unit: unitOf(name), valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  const point = <T>(labels: DataPoint<T>["attributes"], value: T): DataPoint<T> => ({
    startTime,
    endTime,
    attributes: labels,
    value,
  });
  switch (type) {
    case "counter":
      return [
        {
          ...common,
          dataPointType: DataPointType.SUM,
          isMonotonic: true,
          dataPoints: values.map(({ labels, value }) => point({ ...labels }, value)),
        },
      ];
    case "gauge":
      return [
        {
          ...common,
          dataPointType: DataPointType.GAUGE,
          dataPoints: values.map(({ labels, value }) => point({ ...labels }, value)),
        },
      ];
    case "histogram":
      return [
        {
          ...common,
          dataPointType: DataPointType.HISTOGRAM,
          dataPoints: histogramsOf(metric).map(({ labels, histogram }) => point(labels, histogram)),
        },
      ];
    default:
      return [];
  }
}

/** Collects the buckets, sums and counts that prom-client lists one after the other. */
function histogramsOf({ name, values }: PrometheusMetric) {
  const series = new Map<
    string,
    {
      labels: DataPoint<Histogram>["attributes"];
      bounds: number[];
      cumulative: number[];
      sum: number;
      count: number;
    }
  >();
  for (const { labels: all, value, metricName } of values) {
    const { le, ...labels } = all;
    const key = JSON.stringify(labels);
    const one = series.get(key) ?? { labels, bounds: [], cumulative: [], sum: 0, count: 0 };
    series.set(key, one);
    if (metricName === `${name}_sum`) one.sum = value;
    else if (metricName === `${name}_count`) one.count = value;
    else if (le !== undefined) {
      if (le !== "+Inf") one.bounds.push(Number(le));
      one.cumulative.push(value);
    }
  }
  return [...series.values()].map(({ labels, bounds, cumulative, sum, count }) => {
    // Buckets of Prometheus contain the smaller ones, those of OTLP do not.
    const counts = cumulative.map((value, index) => value - (cumulative[index - 1] ?? 0));
    return { labels, histogram: { buckets: { boundaries: bounds, counts }, sum, count } };
  });
}

/** Returns the unit that the name of a metric ends with, in the notation of UCUM. */
function unitOf(name: string): string {
  if (/_seconds(_total)?$/.test(name)) return "s";
  return name.endsWith("_bytes") ? "By" : "1";
}

function toHrTime(ms: number): HrTime {
  return [Math.floor(ms / 1000), Math.round((ms % 1000) * 1e6)];
}
