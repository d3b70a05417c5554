/** A tool where it lives: what a host's own policies are asked about. Both are the surface's words. */
export interface ToolAddress {
  readonly surfaceId: string;
  /** The surface's name of the tool, not the host's. */
  readonly tool: string;
}
