import { EventSource as NodeEventSource } from "eventsource";

/** Node has no EventSource of its own. */
export const PlatformEventSource: typeof EventSource | undefined = NodeEventSource as unknown as typeof EventSource;
