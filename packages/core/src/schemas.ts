/** The name of this entry. */
export const schemasEntryName = "@human-plus/core/schemas";
