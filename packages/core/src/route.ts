import { type RouteName, routes } from "./gen/routes.ts";

/** What a path and a method mean to a relay. */
export type RouteMatch =
  | { readonly kind: "route"; readonly name: RouteName; readonly session: string | undefined }
  | { readonly kind: "method_not_allowed"; readonly allowed: readonly string[] }
  | { readonly kind: "not_found" };

const NAMES = Object.keys(routes) as RouteName[];

/**
 * Finds the route of a request. The session is percent-decoded, and not yet checked.
 *
 * @param path the path behind the relay's mount, without the query
 */
export function matchRoute(method: string, path: string): RouteMatch {
  const allowed: string[] = [];
  for (const name of NAMES) {
    const route = routes[name];
    const session = sessionIn(route.address, path);
    if (session === undefined) continue;
    if (route.method === method) return { kind: "route", name, session: session === "" ? undefined : session };
    allowed.push(route.method);
  }
  return allowed.length > 0 ? { kind: "method_not_allowed", allowed } : { kind: "not_found" };
}

/** The session a path names, `""` where the address has none, `undefined` where the path is another one. */
function sessionIn(address: string, path: string): string | undefined {
  const marker = "{session}";
  const at = address.indexOf(marker);
  if (at < 0) return path === address || (address === "/" && path === "") ? "" : undefined;
  const before = address.slice(0, at);
  const after = address.slice(at + marker.length);
  if (path.length <= before.length + after.length || !path.startsWith(before) || !path.endsWith(after))
    return undefined;
  const encoded = path.slice(before.length, path.length - after.length);
  if (encoded.includes("/")) return undefined;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}
