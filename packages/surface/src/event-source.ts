/** The EventSource of the platform. */
export const PlatformEventSource: typeof EventSource | undefined = globalThis.EventSource;
