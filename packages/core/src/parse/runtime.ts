// What generated code calls. Nothing else reaches into this folder from gen/.
export type { Parsed } from "./issue.ts";
export { fitsBytes, isLonger, isObject, isShallow, isShorter } from "./json.ts";
export { objectReader, safeParse, scalarReader } from "./reader.ts";
export { isReserved } from "./reserved-ending.ts";
export { unwrap } from "./unwrap.ts";
export { checked, type Read, selected, tagged, type Validator } from "./validator.ts";
