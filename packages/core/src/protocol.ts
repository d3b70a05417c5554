/** The name of this entry. */
export const entryName = "@human-plus/core/protocol";
