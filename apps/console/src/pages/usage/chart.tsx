import "@mantine/charts/styles.layer.css";
import { BarChart } from "@mantine/charts";
import type { ReactNode } from "react";
import { useFormat } from "../../words/use-format.ts";
import { type Course, OTHERS } from "./course.ts";
import type { Measure } from "./search.ts";
import { useUsageWords } from "./words.ts";

const COLORS = ["signal.6", "blue.6", "orange.6", "grape.6", "yellow.6", "cyan.7", "red.6", "gray.5"];

/** Stacked bars, one for each day. */
export function UsageChart({ course, measure }: { course: Course; measure: Measure }): ReactNode {
  const words = useUsageWords();
  const format = useFormat();
  const formatValue = (value: number) => (measure === "cost" ? format.cost(value) : format.compact(value));
  return (
    <BarChart
      h={260}
      data={course.days.map(({ day, values }) => ({ day: format.day(day), ...values }))}
      dataKey="day"
      type="stacked"
      series={course.names.map((name, place) => ({
        name,
        label: name === OTHERS ? words.others : (course.labels.get(name) ?? name),
        color: COLORS[place % COLORS.length] ?? "gray.5",
      }))}
      withLegend={course.names.length > 1}
      legendProps={{ verticalAlign: "bottom" }}
      valueFormatter={formatValue}
      yAxisProps={{ width: 64 }}
      barProps={{ isAnimationActive: false }}
      maxBarWidth={28}
    />
  );
}
