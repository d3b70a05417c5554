/** Builds the URL of a route: `base` without trailing slashes, the session in its place, and the parameters that have a value. */
export function routeUrl(
  base: string,
  address: string,
  session?: string,
  names: readonly string[] = [],
  query: object = {},
): string {
  const path = session === undefined ? address : address.replace("{session}", () => encodeURIComponent(session));
  const parameters = new URLSearchParams();
  for (const name of names) {
    const value = (query as Record<string, unknown>)[name];
    if (value !== undefined) parameters.set(name, String(value));
  }
  let end = base.length;
  while (base.charAt(end - 1) === "/") end--;
  return `${base.slice(0, end)}${path}${parameters.size === 0 ? "" : `?${parameters}`}`;
}
