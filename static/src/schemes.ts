// Every colour scheme, loaded when one is needed that the server's HTML has not linked: in settings, and for a device
// with colours of its own.

import list from "../schemes.json";

export interface Scheme {
  id: string;
  name: string;
  dark: boolean;
  /** Custom properties of css by name, without their dashes. */
  tokens: Record<string, string>;
}

export const schemes: readonly Scheme[] = list;

/** A scheme by its id; the default one of its kind when this version does not know it. */
export function schemeOf(id: string, dark: boolean): Scheme {
  const found = schemes.find((scheme) => scheme.id === id && scheme.dark === dark);
  return found ?? schemes.find((scheme) => scheme.id === (dark ? "tabs-dark" : "tabs-light"))!;
}
