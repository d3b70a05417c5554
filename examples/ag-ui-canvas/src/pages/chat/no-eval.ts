import { config } from "zod/v4";

// Before any schema is made: the page's content security policy allows no eval, and zod would try.
config({ jitless: true });
