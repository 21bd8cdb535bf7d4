package tools

import "slices"

// The names of all tools that are built in, and of those that plugins bring
// under a name of ours. No other Go file outside tests spells them.
const (
	ExecuteTask     = "execute_task"
	ExecuteSubtask  = "execute_subtask"
	ReadAgentResult = "read_agent_result"
	Restart         = "restart"

	UpdateScratchpad     = "update_scratchpad"
	WriteTodos           = "write_todos"
	AskUserClarification = "ask_user_clarification"
	ActivateTools        = "activate_tools"
	Notify               = "notify"
	ReadNotification     = "read_notification"
	ShowFileToUser       = "show_file_to_user"

	ExecuteCmd = "execute_cmd"

	ListFiles     = "list_files"
	ReadFile      = "read_file"
	WriteFile     = "write_file"
	EditFile      = "edit_file"
	InsertAtLine  = "insert_at_line"
	ReplaceLines  = "replace_lines"
	SearchFile    = "search_file"
	GrepFiles     = "grep_files"
	GetASTOutline = "get_ast_outline"

	ListItems       = "list_items"
	ToggleItem      = "toggle_item"
	RegisterMCP     = "register_mcp"
	DeleteMCP       = "delete_mcp"
	ConfigurePlugin = "configure_plugin"
	SetSecret       = "set_secret"
	ListSecrets     = "list_secrets"
	DeleteCronJob   = "delete_cron_job"

	ImageGenerate              = "image_generate"
	ImageGenerateProvidersList = "image_generate_providers_list"
	WebFetch                   = "web_fetch"
	WebSearch                  = "web_search"
	SendVoiceMessage           = "send_voice_message"
	SendAttachment             = "send_attachment"

	MemorySearch   = "memory_search"
	MemorySave     = "memory_save"
	MemoryQuery    = "memory_query"
	MemoryProfile  = "memory_profile"
	MemoryContext  = "memory_context"
	MemoryConclude = "memory_conclude"
)

// ConfigGroup is the group of the tools that change the set-up. They are
// offered once it was activated.
const ConfigGroup = "config"

// Names lists the names of this file, sorted.
func Names() []string {
	all := []string{
		ExecuteTask, ExecuteSubtask, ReadAgentResult, Restart,
		UpdateScratchpad, WriteTodos, AskUserClarification, ActivateTools, Notify, ReadNotification, ShowFileToUser,
		ExecuteCmd,
		ListFiles, ReadFile, WriteFile, EditFile, InsertAtLine, ReplaceLines, SearchFile, GrepFiles, GetASTOutline,
		ListItems, ToggleItem, RegisterMCP, DeleteMCP, ConfigurePlugin, SetSecret, ListSecrets, DeleteCronJob,
		ImageGenerate, ImageGenerateProvidersList, WebFetch, WebSearch, SendVoiceMessage, SendAttachment,
		MemorySearch, MemorySave, MemoryQuery, MemoryProfile, MemoryContext, MemoryConclude,
	}
	slices.Sort(all)
	return all
}
