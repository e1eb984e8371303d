package catalog

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/apache/iceberg-go/view"
)

// apiError is an answer in the protocol's error form. Messages say what
// Iceberg's own catalogs say: people search for them, and its tests read them.
type apiError struct {
	status  int
	kind    string
	message string
}

// Error returns the message a client sees.
func (e *apiError) Error() string { return e.message }

// errorBody is the protocol's ErrorModel in its envelope.
type errorBody struct {
	Error errorModel `json:"error"`
}

// errorModel is what clients read; they choose their exception by type and code.
type errorModel struct {
	Message string `json:"message"`
	Type    string `json:"type"`
	Code    int    `json:"code"`
}

func badRequest(format string, args ...any) error {
	return &apiError{http.StatusBadRequest, "BadRequestException", fmt.Sprintf(format, args...)}
}

// badView is what makes no view. Its type is the one that Iceberg's clients
// turn into the exception they throw when they find the same by themselves.
func badView(id identifier, err error) error {
	message := strings.TrimPrefix(err.Error(), view.ErrInvalidViewMetadata.Error()+": ")
	return &apiError{http.StatusBadRequest, "IllegalArgumentException", fmt.Sprintf("%s (view %s)", message, id)}
}

func noSuchNamespace(ns namespace) error {
	return &apiError{http.StatusNotFound, "NoSuchNamespaceException", "Namespace does not exist: " + ns.String()}
}

func noSuchTable(id identifier) error {
	return &apiError{http.StatusNotFound, "NoSuchTableException", "Table does not exist: " + id.String()}
}

func namespaceExists(ns namespace) error {
	return &apiError{http.StatusConflict, "AlreadyExistsException", "Namespace already exists: " + ns.String()}
}

func tableExists(id identifier) error {
	return &apiError{http.StatusConflict, "AlreadyExistsException", "Table already exists: " + id.String()}
}

func noSuchView(id identifier) error {
	return &apiError{http.StatusNotFound, "NoSuchViewException", "View does not exist: " + id.String()}
}

func viewExists(id identifier) error {
	return &apiError{http.StatusConflict, "AlreadyExistsException", "View already exists: " + id.String()}
}

// nameTaken says that a table cannot have the name of a view, nor the reverse.
func nameTaken(id identifier, byView bool) error {
	kind := "Table"
	if byView {
		kind = "View"
	}
	return &apiError{http.StatusConflict, "AlreadyExistsException", kind + " with same name already exists: " + id.String()}
}

func namespaceNotEmpty(ns namespace, what string) error {
	return &apiError{
		http.StatusConflict, "NamespaceNotEmptyException",
		fmt.Sprintf("Namespace %s is not empty: drop its %s first", ns, what),
	}
}

func commitFailed(format string, args ...any) error {
	return &apiError{http.StatusConflict, "CommitFailedException", fmt.Sprintf(format, args...)}
}

// unknownState says that a commit may or may not have happened. Clients must
// neither retry nor clean up after it.
func unknownState(err error) error {
	return &apiError{http.StatusInternalServerError, "CommitStateUnknownException", "commit: " + err.Error()}
}
