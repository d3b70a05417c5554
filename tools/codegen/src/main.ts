// Writes packages/core/src/gen from spec/; with --check, fails when what is committed differs.
export {};
