export function lowerFirst(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1);
}

export function upperFirst(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** A property name as TypeScript writes it: quoted only if it must be. */
export function propertyKey(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

/** The name at the end of a reference. */
export function lastName(ref: string): string {
  return ref.slice(ref.lastIndexOf("/") + 1);
}
