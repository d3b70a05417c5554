/** A change of a source file that breaks one promise: what the property test has to find. */
export interface Fault {
  readonly name: string;
  /** From the root of the repository. */
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly find: string;
  readonly replace: string;
  /** The promise that it breaks, as stories name it. */
  readonly breaks: string;
  /** What the last line of its story says. */
  readonly story: RegExp;
}
