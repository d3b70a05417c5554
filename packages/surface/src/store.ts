// For applications that keep their state in a plain store.
export { type BindStoreOptions, bindStore, type Items, type StoreBinding } from "./bind-store.ts";
