/** The name of this package. */
export const packageName = "@human-plus/core";
