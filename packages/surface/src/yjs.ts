// For applications that keep their state in a Yjs document.
export { type BindYjsOptions, bindYjs, type HandNote, type YjsBinding } from "./bind-yjs.ts";
