/** Theme of the component library. The build also reads it, to generate the style sheet with the CSS variables. */
import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from "@mantine/core";

const signal: MantineColorsTuple = [
  "#e8f6f0",
  "#d2ebe0",
  "#a5d8c2",
  "#74c4a3",
  "#4bb38a",
  "#2f9f76",
  "#1f8a64",
  "#17745a",
  "#115c47",
  "#0b4435",
];

const gray: MantineColorsTuple = [
  "#f7f8f8",
  "#eff1f0",
  "#e4e7e6",
  "#d6dbd9",
  "#c1c8c5",
  "#a1aaa6",
  "#7c8682",
  "#59635f",
  "#3c4542",
  "#1f2725",
];

const dark: MantineColorsTuple = [
  "#e4e8e6",
  "#c3cac7",
  "#9aa5a0",
  "#717c78",
  "#343d3a",
  "#29302e",
  "#1d2322",
  "#151a19",
  "#101413",
  "#0a0d0c",
];

/** Overlays do not lock scrolling, because the library would inject a style element, which the policy forbids. */
const overlay = { defaultProps: { lockScroll: false } };

export const theme = createTheme({
  colors: { signal, gray, dark },
  primaryColor: "signal",
  primaryShade: 7,
  black: gray[9],
  defaultRadius: "md",
  cursorType: "pointer",
  respectReducedMotion: true,
  fontFamily:
    'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif',
  fontFamilyMonospace:
    'ui-monospace, "SF Mono", "Cascadia Code", "DejaVu Sans Mono", "Noto Sans Mono CJK SC", monospace',
  fontSizes: { xs: "0.75rem", sm: "0.875rem", md: "0.9375rem", lg: "1.0625rem", xl: "1.25rem" },
  headings: { fontWeight: "650" },
  components: {
    Modal: {
      defaultProps: { ...overlay.defaultProps, centered: true },
      styles: { title: { fontWeight: 650 } },
    },
    Drawer: overlay,
    Tooltip: { defaultProps: { openDelay: 300, withArrow: true } },
    Badge: { defaultProps: { radius: "sm", variant: "light", tt: "none", fw: 550 } },
    Button: { defaultProps: { size: "sm" } },
    ActionIcon: { defaultProps: { variant: "subtle", color: "gray" } },
  },
});

/** Colors with enough contrast for small text, which the library's defaults lack. */
export const cssVariables: CSSVariablesResolver = ({ colors }) => ({
  variables: {},
  light: {
    "--mantine-color-dimmed": colors.gray[7],
    "--mantine-color-default-border": colors.gray[3],
    "--mantine-color-placeholder": colors.gray[6],
    "--mantine-color-anchor": colors["signal"]?.[7] ?? "",
    "--mantine-color-error": colors.red[9],
    "--sunken": colors.gray[0],
    "--raised": "#ffffff",
    "--hover": colors.gray[1],
    "--accent": colors["signal"]?.[7] ?? "",
    "--accent-soft": colors["signal"]?.[0] ?? "",
    ...textColors((color) => colors[color]?.[9] ?? ""),
    // Yellow and orange are too bright for text, even in their darkest shade.
    "--mantine-color-yellow-light-color": "#714a02",
    "--mantine-color-orange-light-color": "#8a3c04",
  },
  dark: {
    "--mantine-color-dimmed": colors.dark[2],
    "--mantine-color-placeholder": colors.dark[2],
    "--mantine-color-anchor": colors["signal"]?.[3] ?? "",
    "--mantine-color-error": colors.red[4],
    "--sunken": colors.dark[8],
    "--raised": colors.dark[6],
    "--hover": colors.dark[5],
    "--accent": colors["signal"]?.[4] ?? "",
    "--accent-soft": "rgb(47 159 118 / 18%)",
    ...textColors((color) => colors[color]?.[2] ?? ""),
  },
});

const STATE_COLORS = ["signal", "gray", "red", "orange", "yellow", "blue", "grape"] as const;

/** Sets the text color of light and outlined components. */
function textColors(getColor: (color: string) => string): Record<string, string> {
  return Object.fromEntries(
    STATE_COLORS.flatMap((color) => [
      [`--mantine-color-${color}-light-color`, getColor(color)],
      [`--mantine-color-${color}-outline`, getColor(color)],
    ]),
  );
}
