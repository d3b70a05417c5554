// A live surface for any agent of AG-UI. Needs the peers `@ag-ui/client` and `rxjs`.
export type { ProposalDecision, ProposalEnd, ProposalOptions } from "./middleware/proposal-desk.ts";
export type { SurfaceFault, SurfaceMiddlewareConfig, SurfaceRunRequest } from "./middleware/settings.ts";
export { SurfaceMiddleware } from "./middleware/surface-middleware.ts";
