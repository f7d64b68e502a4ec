// What a person can do. Every button calls a tool, with the rights of this connection.
const actions = () => [];
const changeActions = () => [];
const editor = () => null;
