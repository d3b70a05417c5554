import { surface } from "../../../../shared-canvas/src/page/main.ts";
import { openDecisionChannel } from "../decision-channel.ts";
import { carryOutDecisions } from "./carry-out-decisions.ts";

// The page of the shared canvas, as it is, and what lets its person decide in the chat, too.
carryOutDecisions(surface, openDecisionChannel());
