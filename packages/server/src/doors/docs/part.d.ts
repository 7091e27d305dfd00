/** The part of an OpenAPI document with some of its paths, and only the components that these refer to. */
export function partOf<T>(api: T, wants: (path: string) => boolean): T

/** The same for Swagger UI: examples of optional parameters become words of their description. */
export function forViewer<T>(part: T): T
