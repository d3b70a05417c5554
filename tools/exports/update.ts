import { currentPins, publishedPackages, writePins } from "./pins.ts";

for (const published of publishedPackages()) writePins(published, await currentPins(published));
