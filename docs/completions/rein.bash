# Printed by `rein help --completion bash`; do not edit.
_rein() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} options
  case $prev in
    --quirks) COMPREPLY=($(compgen -W 'plain openai azure deepseek mistral groq openrouter anthropic gemini' -- "$cur")); return ;;
    --wire) COMPREPLY=($(compgen -W 'openai-strict-2024 openai-strict openai anthropic-strict anthropic llama.cpp gemini' -- "$cur")); return ;;
    --no-progress) COMPREPLY=($(compgen -W 'on 2-turns 3-in-a-row 3-in-all off' -- "$cur")); return ;;
    --sandbox) COMPREPLY=($(compgen -W 'full helper off' -- "$cur")); return ;;
    --output) COMPREPLY=($(compgen -W 'text json stream-json' -- "$cur")); return ;;
    --lang) COMPREPLY=($(compgen -W 'ko en' -- "$cur")); return ;;
    --completion) COMPREPLY=($(compgen -W 'bash zsh fish' -- "$cur")); return ;;
    --root|-C) COMPREPLY=($(compgen -d -- "$cur")); return ;;
    --config|--log) COMPREPLY=($(compgen -f -- "$cur")); return ;;
  esac
  case ${COMP_WORDS[1]} in
    resume) options=' --model --base-url --root --pack --max-turns --token-budget --cost-limit --time-limit --no-progress --compact-at --context-window --wrap-up --idle-limit --config --output --lang --log --store --last --quiet --help --version' ;;
    runs) options=' --config --output --lang --store --help --version' ;;
    show) options=' --config --output --lang --store --last --help --version' ;;
    replay) options=' --max-turns --token-budget --cost-limit --time-limit --no-progress --config --lang --store --last --help --version' ;;
    fork) options=' --model --base-url --root --pack --max-turns --token-budget --cost-limit --time-limit --no-progress --compact-at --context-window --wrap-up --idle-limit --config --output --lang --log --store --quiet --help --version' ;;
    stats) options=' --config --output --lang --store --help --version' ;;
    ask) options=' --model --base-url --quirks --system --token-budget --cost-limit --time-limit --compact-at --context-window --wrap-up --output-limit --idle-limit --retries --config --output --lang --log --store --no-store --quiet --dry-run --help --version' ;;
    tools) options=' --root --tools --pack --sandbox --exec-network --policy --config --output --lang --help --version' ;;
    policy) options=' --root --pack --policy --config --output --lang --help --version' ;;
    lint) options=' --wire --tools --pack --config --output --lang --help --version' ;;
    pack) options=' --lang --help --version' ;;
    init) options=' --pack --lang --help --version' ;;
    models) options=' --config --output --lang --help --version' ;;
    script) options=' --lang --quiet --port --help --version' ;;
    help) options=' --lang --help --version' ;;
    *) options=' --model --base-url --quirks --wire --system --root --tools --pack --max-turns --token-budget --cost-limit --time-limit --no-progress --compact-at --context-window --wrap-up --output-limit --idle-limit --retries --sandbox --exec-network --policy --config --output --lang --log --store --no-store --quiet --dry-run --help --version --strict --skip-bad-tools' ;;
  esac
  if [ "$COMP_CWORD" = 1 ]; then options="$options run resume runs show replay fork stats ask tools policy lint pack init models script help"; fi
  COMPREPLY=($(compgen -W "$options" -- "$cur"))
}
complete -F _rein rein
