package tap

import "github.com/laketap/laketap"

// EngineAtCatalog names the client of a catalog request by its User-Agent and
// X-Client-Version headers. Daft, Polars and DataFusion reach the catalog
// through PyIceberg and are only told apart at the store.
func EngineAtCatalog(userAgent, clientVersion string) laketap.Engine { return laketap.Engine{} }

// EngineAtStorage names the client of an S3 request by its User-Agent and the
// engine that its session was vended to (zero: a static key).
func EngineAtStorage(userAgent string, session laketap.Engine) laketap.Engine {
	return session
}
