// English texts of the settings dialog, which is loaded when it is opened.

import type { SettingName, Values } from "./settings";

type Choices<K extends SettingName> = Values[K] extends string ? Partial<Record<Values[K], string>> : never;

export const settingsStrings = {
  title: "Settings",
  close: "Close",
  scope: "Changes are for",
  everywhere: "All my devices",
  here: "This device alone",
  hereMark: "this device",
  hereTitle: "Set for this device alone",
  reset: (label: string) => `${label}: back to the default`,
  resetHere: (label: string) => `${label}: back to what all devices have`,
  sections: { colors: "Colours", text: "Text", terminal: "Terminal", page: "Page" },
  labels: {
    appearance: "Appearance",
    lightScheme: "Light scheme",
    darkScheme: "Dark scheme",
    minimumContrast: "Least contrast of text",
    fontFamily: "Font",
    fontSize: "Size",
    lineHeight: "Line height",
    cursorStyle: "Cursor",
    cursorBlink: "Blinking cursor",
    padding: "Space around the terminal",
    scrollback: "Lines of history",
    statusBar: "Status bar",
    screenReader: "Screen reader mode",
    optionAsMeta: "Option key is Meta (Mac)",
  } satisfies Partial<Record<SettingName, string>>,
  hints: {
    minimumContrast: "1 shows colours as programs choose them; 4.5 keeps every text readable.",
    fontFamily: "The name of a font on this device, or several with commas. Empty: the system's.",
  } satisfies Partial<Record<SettingName, string>>,
  appearance: { system: "As the system", light: "Light", dark: "Dark" } satisfies Choices<"appearance">,
  cursorStyle: { block: "Block", bar: "Bar", underline: "Underline" } satisfies Choices<"cursorStyle">,
};
